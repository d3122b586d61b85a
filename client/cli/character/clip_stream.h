// clip_stream.h - a clip through an ordered stream, whatever the deformer remembers of it.
#pragma once

#include <absl/status/statusor.h>

#include <functional>

#include "client/cli/run/context.h"
#include "sinew/client.h"

namespace sinew::cli {

// Called with the number of the pose within the clip, from 0, and its frame.
using FrameSink = std::function<absl::Status(std::size_t index, const client::FrameView& frame)>;

// The motion that a clip is part of: every frame from its first to the clip's last.
using WholeMotion = std::function<absl::StatusOr<client::ClipData>()>;

// Called while poses are computed that the clip does not hold: so many of so many so far.
using LeadProgress = std::function<void(std::size_t done, std::size_t of)>;

// Sends every pose of `clip` through an ordered stream and hands each frame to `sink`, in order;
// survives a lost server as client::Character does. Where frames depend on the poses before them,
// all frames of `whole` are sent, and all from the first again after a break, so that every part
// of a motion has the bits it has in a bake of the whole. Ctrl-C ends it with kCancelled. A pose
// the server refuses ends it with that error, the frame named. kUnavailable: the connection broke
// again and again without a frame in between. kFailedPrecondition: another server took over that
// computes with other determinism digest.
absl::Status StreamClip(const Context& context, const client::Character& character,
                        const client::ClipData& clip, const WholeMotion& whole,
                        const client::OutputOptions& output, const LeadProgress& lead,
                        const FrameSink& sink);

}  // namespace sinew::cli
