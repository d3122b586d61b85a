// deform_clip.h - a clip in blocks: what Client::DeformClip and Character::DeformClip share.
#pragma once

#include <absl/status/status.h>

#include "client/cpp/connection.h"
#include "sinew/client.h"

namespace sinew::client {

// As Client::DeformClip; continues behind the last frame after a break and, with `heal`, after a
// loss.
absl::Status DeformClip(Connection& connection, const Target& target, const PoseLayout& layout,
                        const ClipPoses& poses, const OutputSpec& output, const ClipSink& sink,
                        const HealTarget& heal, const CallOptions& call);

}  // namespace sinew::client
