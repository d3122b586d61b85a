// deform_clip.h - a clip in blocks: what Client::DeformClip and Character::DeformClip share.
#pragma once

#include <absl/status/status.h>

#include <memory>

#include "client/lib/rpc/connection.h"
#include "sinew/client.h"

namespace sinew::client {

// As Client::DeformClip; continues behind the last frame after a break and, with `heal`, after a
// loss. State ends with a call: what does not fit the first block of a recipe that has some goes
// through one stream, all poses from the first again, so that every frame has the bits it has in a
// stream of the whole.
absl::Status DeformClip(const std::shared_ptr<Connection>& connection, const Target& target,
                        const PoseLayout& layout, const ClipPoses& poses,
                        const OutputOptions& output, const ClipSink& sink, const HealTarget& heal,
                        const CallOptions& call);

}  // namespace sinew::client
