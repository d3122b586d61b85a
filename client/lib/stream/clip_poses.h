// clip_poses.h - poses of a clip cut into blocks that fit one request.
#pragma once

#include <absl/status/status.h>

#include <cstddef>

#include "sinew/client.h"

namespace sinew::client {

// kInvalidArgument: arrays that do not divide into the frames, frame number 0.
absl::Status CheckClipPoses(const ClipPoses& poses);

// Pose `index` of a checked clip, with its frame number and time.
Pose ClipPose(const ClipPoses& poses, std::size_t index);

// Poses of a checked clip that make about `bytes` of a request, from 1 to `most`.
std::size_t ClipBlockFrames(const ClipPoses& poses, std::size_t bytes, std::size_t most);

// True if the server refused `status`'s request for passing the limit of that name.
bool PassedLimit(const absl::Status& status, const char* limit);

}  // namespace sinew::client
