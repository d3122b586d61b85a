#include "client/lib/stream/clip_poses.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <functional>

#include "core/base/counted_text.h"
#include "core/base/status.h"

namespace sinew::client {

absl::Status CheckClipPoses(const ClipPoses& poses) {
  if (poses.frames == 0) {
    return poses.joint_transforms.empty()
               ? absl::OkStatus()
               : absl::InvalidArgumentError(
                     "poses.frames: got 0 with joint transforms, need 1 or more");
  }
  const auto check = [&](const char* field, std::size_t got) -> absl::Status {
    if (got % poses.frames == 0) return absl::OkStatus();
    return absl::InvalidArgumentError(absl::StrCat("poses.", field, ": got ",
                                                   CountedText(got, "value"),
                                                   ", need a multiple of ", poses.frames));
  };
  SINEW_RETURN_IF_ERROR(check("joint_transforms", poses.joint_transforms.size()));
  SINEW_RETURN_IF_ERROR(check("controls", poses.controls.size()));
  if (!poses.times.empty() && poses.times.size() != poses.frames) {
    return absl::InvalidArgumentError(absl::StrCat("poses.times: got ",
                                                   CountedText(poses.times.size(), "value"),
                                                   ", need ", poses.frames, " or none"));
  }
  if (poses.first_frame == 0) {
    return absl::InvalidArgumentError("poses.first_frame: got 0, need 1 or more");
  }
  if (!poses.outputs.empty() &&
      (poses.outputs.back() >= poses.frames ||
       std::ranges::adjacent_find(poses.outputs, std::greater_equal<>()) != poses.outputs.end())) {
    return absl::InvalidArgumentError(absl::StrCat("poses.outputs: got ", poses.outputs.size(),
                                                   " indices, need rising ones below ",
                                                   poses.frames));
  }
  return absl::OkStatus();
}

Pose ClipPose(const ClipPoses& poses, std::size_t index) {
  const std::size_t joints = poses.joint_transforms.size() / poses.frames;
  const std::size_t controls = poses.controls.size() / poses.frames;
  Pose pose{.joint_transforms = poses.joint_transforms.subspan(index * joints, joints),
            .controls = poses.controls.subspan(index * controls, controls),
            .frame = poses.first_frame + index};
  if (!poses.times.empty()) pose.time = poses.times[index];
  return pose;
}

Pose PoseOf(const ClipData& clip, std::size_t index) {
  const std::size_t joints = clip.joint_transforms.size() / clip.frames;
  const std::size_t controls = clip.controls.size() / clip.frames;
  Pose pose;
  pose.joint_transforms = std::span(clip.joint_transforms).subspan(index * joints, joints);
  pose.controls = std::span(clip.controls).subspan(index * controls, controls);
  pose.time = clip.FrameNumber(index) / clip.fps;
  return pose;
}

}  // namespace sinew::client
