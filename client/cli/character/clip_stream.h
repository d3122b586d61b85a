// clip_stream.h - streams a clip so that any part of it has the bits of the whole motion.
#pragma once

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <functional>
#include <string>

#include "client/cli/character/character_file.h"
#include "client/cli/run/context.h"
#include "sinew/client.h"

namespace sinew::cli {

// Called with a frame of the clip, in order.
using FrameSink = std::function<absl::Status(const client::FrameView& frame)>;

// Whether frames depend on those before them. Opens a stream for it: only that says so.
absl::StatusOr<bool> IsStateful(const client::Character& character,
                                const client::CallOptions& call);

// Hands the frame of every pose of `clip` to `sink`, with a progress line called `label`. `clip` is
// what ReadMotion has read for `motion`. If the recipe has state, all poses of the motion from its
// frame 0 on are evaluated, with a note, and only the frames of the clip are kept. Ctrl-C ends it
// with kCancelled. kInvalidArgument: fractions of frames for a recipe with state. A pose that the
// server refuses ends it with that error and the frame number. Other errors are those of
// client::Character::DeformClip.
absl::Status StreamClip(const Context& context, const CharacterFile& character,
                        const client::Character& bound, MotionRequest motion,
                        const client::ClipData& clip, const client::OutputOptions& output,
                        const std::string& label, const FrameSink& sink);

}  // namespace sinew::cli
