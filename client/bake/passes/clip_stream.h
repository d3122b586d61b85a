// clip_stream.h - streams a clip, or samples of it with velocities, through a bound character.
#pragma once

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "client/bake/base/monitor.h"
#include "client/bake/character/character_file.h"
#include "sinew/client.h"

namespace sinew::bake {

// Called with a frame of the clip, in order.
using FrameSink = std::function<absl::Status(const client::FrameView& frame)>;

// What is evaluated for some samples of a clip and their velocities.
struct Evaluation {
  client::ClipData clip;             // rising, with numbers from 0 as the file counts them
  std::vector<std::size_t> outputs;  // of each sample: its index in `clip`
  // The neighbours that its velocity is taken from; the sample itself where the clip has none.
  std::vector<std::size_t> before, after;
};

// Poses of samples of `clip`, which ReadMotion has read for `motion`, and of their neighbours at
// motion.velocity_step, which is above 0. wanted: rising indices of samples of the clip; empty =
// all.
//   kInvalidArgument: for poses, a velocity step with a fraction.
absl::StatusOr<Evaluation> ReadEvaluation(const CharacterFile& character,
                                          const MotionRequest& motion, const client::ClipData& clip,
                                          std::span<const std::size_t> wanted = {});

struct ClipStreamOptions {
  std::string label;  // of the progress line
  client::OutputOptions output = {};
  std::vector<std::size_t> wanted = {};  // rising indices of frames of the clip; empty = all
  // What the progress line begins and ends with, where a caller streams several clips.
  double progress_begin = 0, progress_end = 1;
};

// Hands the wanted frames of `clip` to `sink`. The monitor ends it with kCancelled. A pose that the
// server refuses ends it with that error and the frame number. Other errors are those of
// client::Character::DeformClip.
absl::Status StreamClip(const Monitor& monitor, const client::Character& bound,
                        const client::ClipData& clip, const ClipStreamOptions& options,
                        const FrameSink& sink);

// One sample of a clip, arrays of the whole rig in model space.
struct ClipSample {
  std::span<const float> points;           // [V * 3]
  std::span<const float> normals = {};     // [V * 3] as the server computes them, or empty
  std::span<const float> velocities = {};  // [V * 3] units per second, or empty
};
using SampleSink = std::function<absl::Status(const ClipSample& sample)>;

// Streams the samples of a clip, with normals if options.output asks for them, and with velocities
// if motion.velocity_step is not 0: (after - before) / time between them, of the samples that
// Evaluation names, in double and rounded once. `clip` is what ReadMotion has read for `motion`.
// Keeps as many samples as lie between a sample and its neighbours. Errors of ReadEvaluation too.
absl::Status StreamSamples(const Monitor& monitor, const CharacterFile& character,
                           const client::Character& bound, const MotionRequest& motion,
                           const client::ClipData& clip, const ClipStreamOptions& options,
                           const SampleSink& sink);

}  // namespace sinew::bake
