// clip_stream.h - streams a clip so that any part of it has the bits of the whole motion.
#pragma once

#include <absl/status/statusor.h>

#include <functional>

#include "client/cli/run/context.h"
#include "sinew/client.h"

namespace sinew::cli {

// Called with the number of the pose within the clip, from 0, and its frame.
using FrameSink = std::function<absl::Status(std::size_t index, const client::FrameView& frame)>;

// Returns the motion that a clip is part of: every frame from its first to the clip's last.
using WholeMotion = std::function<absl::StatusOr<client::ClipData>()>;

// Called while poses before the next frame of the clip are evaluated: how many of how many.
using LeadProgress = std::function<void(std::size_t done, std::size_t total)>;

// Hands the frame of every pose of `clip` to `sink`, in order. If the recipe has state, all poses
// of `whole` are evaluated, and only the frames of the clip are kept. Ctrl-C ends it with
// kCancelled. A pose that the server refuses ends it with that error and the frame number. Other
// errors are those of client::Character::DeformClip.
absl::Status StreamClip(const Context& context, const client::Character& character,
                        const client::ClipData& clip, const WholeMotion& whole,
                        const client::OutputOptions& output, const LeadProgress& lead,
                        const FrameSink& sink);

}  // namespace sinew::cli
