// clip_poses.h - checks the poses of a clip and reads them one by one.
#pragma once

#include <absl/status/status.h>

#include <cstddef>

#include "sinew/clip.h"

namespace sinew::client {

// kInvalidArgument: arrays that do not divide into the frames, frame number 0, outputs that are not
// rising indices of poses.
absl::Status CheckClipPoses(const ClipPoses& poses);

// Pose `index` of a checked clip, with its frame number and time.
Pose ClipPose(const ClipPoses& poses, std::size_t index);

}  // namespace sinew::client
