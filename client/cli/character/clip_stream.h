// clip_stream.h - streams a clip so that any part of it has the bits of the whole motion.
#pragma once

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "client/cli/character/character_file.h"
#include "client/cli/run/context.h"
#include "sinew/client.h"

namespace sinew::cli {

// Called with a frame of the clip, in order.
using FrameSink = std::function<absl::Status(const client::FrameView& frame)>;

// Whether frames depend on those before them. Opens a stream for it: only that says so.
absl::StatusOr<bool> IsStateful(const client::Character& character,
                                const client::CallOptions& call);

// What is evaluated for some samples of a clip.
struct Evaluation {
  client::ClipData clip;             // rising
  std::vector<std::size_t> outputs;  // of each sample: its index in `clip`
  // The neighbours that its velocity is taken from; the sample itself where the clip has none.
  // Empty without velocities.
  std::vector<std::size_t> before, after;
};

struct EvaluationOptions {
  std::span<const std::size_t> wanted = {};  // rising indices of samples of the clip; empty = all
  bool stateful = false;
  // Of a recipe with state: how many frames are evaluated before the first wanted one; unset = all
  // from frame 0 on, which alone gives the bits of the whole motion.
  std::optional<std::int64_t> preroll = {};
};

// Poses for samples of `clip`, which ReadMotion has read for `motion`. For a recipe with state that
// is every sample of every frame before and between them, as an uninterrupted bake evaluates them;
// with velocities also their neighbours, at motion.velocity_step.
//   kInvalidArgument: for a recipe with state, frames with fractions other than those of a shutter
//   of at most 1 frame, or a velocity step other than 1; for poses, a velocity step with a
//   fraction.
absl::StatusOr<Evaluation> ReadEvaluation(const CharacterFile& character,
                                          const MotionRequest& motion, const client::ClipData& clip,
                                          const EvaluationOptions& options);

struct ClipStreamOptions {
  std::string label;  // of the progress line
  client::OutputOptions output = {};
  std::vector<std::size_t> wanted = {};      // rising indices of frames of the clip; empty = all
  std::optional<bool> stateful = {};         // IsStateful; unset = ask
  std::optional<std::int64_t> preroll = {};  // as EvaluationOptions
  // What the progress line begins and ends with, where a command streams several clips.
  double progress_begin = 0, progress_end = 1;
};

// Hands the wanted frames of `clip` to `sink`. `clip` is what ReadMotion has read for `motion`. If
// the recipe has state, the poses of the motion before and between the frames are evaluated too,
// with a note. Ctrl-C ends it with kCancelled. A pose that the server refuses ends it with that
// error and the frame number. Other errors are those of ReadEvaluation and of
// client::Character::DeformClip. motion.velocity_step is not read.
absl::Status StreamClip(const Context& context, const CharacterFile& character,
                        const client::Character& bound, const MotionRequest& motion,
                        const client::ClipData& clip, const ClipStreamOptions& options,
                        const FrameSink& sink);

// One sample of a clip, arrays of the whole rig in model space.
struct ClipSample {
  std::span<const float> points;           // [V * 3]
  std::span<const float> normals = {};     // [V * 3] as the server computes them, or empty
  std::span<const float> velocities = {};  // [V * 3] units per second, or empty
};
using SampleSink = std::function<absl::Status(const ClipSample& sample)>;

// The same with normals if options.output asks for them, and with velocities if
// motion.velocity_step is not 0: (after - before) / time between them, of the samples that
// Evaluation names, in double and rounded once. Keeps as many samples as lie between a sample and
// its neighbours.
absl::Status StreamSamples(const Context& context, const CharacterFile& character,
                           const client::Character& bound, const MotionRequest& motion,
                           const client::ClipData& clip, const ClipStreamOptions& options,
                           const SampleSink& sink);

}  // namespace sinew::cli
