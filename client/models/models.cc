#include "client/models/models.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>

#include <cstring>
#include <string_view>

#include "core/base/status.h"
#include "sinew/client.h"
#include "sinew/v1/pose.pb.h"

// Defined by assets.S.
extern "C" {
extern const char sinew_arm_rig[], sinew_arm_rig_end[];
extern const char sinew_arm_poses[], sinew_arm_poses_end[];
extern const char sinew_hand_rig[], sinew_hand_rig_end[];
extern const char sinew_hand_poses[], sinew_hand_poses_end[];
}

namespace sinew::client {
namespace {

void AppendFloats(const std::string& bytes, std::vector<float>& out) {
  const std::size_t before = out.size();
  if (bytes.empty()) return;  // memcpy takes no null pointer
  out.resize(before + bytes.size() / sizeof(float));
  std::memcpy(out.data() + before, bytes.data(), bytes.size());
}

// rig: a v1::Rig. poses: a v1::PoseBlock, the clip called `clip`.
absl::StatusOr<Model> Stored(std::string_view rig, std::string_view poses, const char* clip) {
  Model model;
  SINEW_ASSIGN_OR_RETURN(model.rig, DecodeRig(rig));
  v1::PoseBlock block;
  if (!block.ParseFromArray(poses.data(), static_cast<int>(poses.size()))) {
    return absl::InternalError(absl::StrCat("clip '", clip, "': not a sinew.v1.PoseBlock"));
  }
  model.clip.name = clip;
  model.clip.frames = static_cast<std::size_t>(block.poses_size());
  for (const v1::Pose& pose : block.poses()) {
    AppendFloats(pose.joint_transforms(), model.clip.joint_transforms);
    AppendFloats(pose.controls(), model.clip.controls);
  }
  return model;
}

}  // namespace

std::vector<std::string> ModelNames() {
  return {"arm", "cylinder", "hand", "tube"};
}

absl::StatusOr<Model> Make(const std::string& name) {
  if (name == "arm") {
    return Stored({sinew_arm_rig, sinew_arm_rig_end}, {sinew_arm_poses, sinew_arm_poses_end},
                  "curl");
  }
  if (name == "cylinder") return Cylinder();
  if (name == "hand") {
    return Stored({sinew_hand_rig, sinew_hand_rig_end}, {sinew_hand_poses, sinew_hand_poses_end},
                  "fist");
  }
  if (name == "tube") return Tube();
  return absl::NotFoundError(
      absl::StrCat("model: got '", name, "', need one of ", absl::StrJoin(ModelNames(), ", ")));
}

}  // namespace sinew::client
