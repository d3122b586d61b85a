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

// The poses that are evaluated for frames of a recipe with state, and which of them are wanted.
struct History {
  client::ClipData clip;
  std::vector<std::size_t> outputs;
};

// Reads them for the frames `wanted` of `clip` (empty = all), which ReadMotion has read for
// `motion`. `preroll`: as ClipStreamOptions. kInvalidArgument: fractions of frames.
absl::StatusOr<History> ReadHistory(const CharacterFile& character, MotionRequest motion,
                                    const client::ClipData& clip,
                                    std::span<const std::size_t> wanted,
                                    std::optional<std::int64_t> preroll);

struct ClipStreamOptions {
  std::string label;  // of the progress line
  client::OutputOptions output = {};
  std::vector<std::size_t> wanted = {};  // rising indices of frames of the clip; empty = all
  std::optional<bool> stateful = {};     // IsStateful; unset = ask
  // Of a recipe with state: how many frames are evaluated before the first wanted one; unset = all
  // from frame 0 on, which alone gives the bits of the whole motion.
  std::optional<std::int64_t> preroll = {};
  // What the progress line begins and ends with, where a command streams several clips.
  double progress_begin = 0, progress_end = 1;
};

// Hands the wanted frames of `clip` to `sink`. `clip` is what ReadMotion has read for `motion`. If
// the recipe has state, the poses of the motion before and between the frames are evaluated too,
// with a note. Ctrl-C ends it with kCancelled. kInvalidArgument: fractions of frames for a recipe
// with state. A pose that the server refuses ends it with that error and the frame number. Other
// errors are those of client::Character::DeformClip.
absl::Status StreamClip(const Context& context, const CharacterFile& character,
                        const client::Character& bound, const MotionRequest& motion,
                        const client::ClipData& clip, const ClipStreamOptions& options,
                        const FrameSink& sink);

}  // namespace sinew::cli
