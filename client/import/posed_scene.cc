#include "client/import/posed_scene.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>

#include "client/import/scene_graph.h"
#include "core/base/counted_text.h"
#include "core/base/status.h"

namespace sinew::client {
namespace {

// The nodes of the scene are the joints, in their order.
class FunctionMotion final : public Motion {
 public:
  FunctionMotion(std::function<absl::Status(double, RigPose&)> evaluate, std::size_t joints)
      : evaluate_(std::move(evaluate)), joints_(joints) {}

  absl::Status Evaluate(const AnimatedScene& /*scene*/, double seconds,
                        ScenePose& pose) const override {
    RigPose rig;
    rig.joints.reserve(joints_ * 12);
    for (std::size_t j = 0; j < joints_; ++j) {
      rig.joints.insert(rig.joints.end(), pose.global[j].m.begin(), pose.global[j].m.end());
    }
    rig.controls = pose.controls;
    SINEW_RETURN_IF_ERROR(evaluate_(seconds, rig));
    if (rig.joints.size() != joints_ * 12 || rig.controls.size() != pose.controls.size()) {
      return InvalidArgument("pose: got ", CountedText(rig.joints.size() / 12, "joint"), " and ",
                             CountedText(rig.controls.size(), "control"), ", need ", joints_,
                             " and ", pose.controls.size());
    }
    for (std::size_t j = 0; j < joints_; ++j) {
      std::copy_n(rig.joints.begin() + static_cast<std::ptrdiff_t>(j * 12), 12,
                  pose.global[j].m.begin());
    }
    pose.controls = std::move(rig.controls);
    return absl::OkStatus();
  }

 private:
  std::function<absl::Status(double, RigPose&)> evaluate_;
  std::size_t joints_;  // a joint that was appended to them keeps its rest pose
};

}  // namespace

absl::StatusOr<ImportedScene> MakePosedScene(RigData rig, std::vector<PosedClip> clips) {
  if (rig.rest_local.size() != rig.joints.size() * 12) {
    return InvalidArgument("rest_local: got ", CountedText(rig.rest_local.size(), "number"),
                           ", need 12 for each of ", CountedText(rig.joints.size(), "joint"));
  }
  auto scene = std::make_shared<AnimatedScene>();
  for (std::uint32_t j = 0; j < rig.joints.size(); ++j) {
    const Joint& joint = rig.joints[j];
    if (joint.parent < -1 || joint.parent >= static_cast<std::int32_t>(j)) {
      return InvalidArgument("joints[", j, "].parent: got ", joint.parent,
                             ", need -1 or a joint before it");
    }
    SceneNode& node = scene->nodes.emplace_back();
    node.name = joint.name;
    node.path = joint.source_path;
    node.parent = joint.parent;
    std::copy_n(&rig.rest_local[std::size_t{j} * 12], 12, node.matrix.emplace().m.begin());
    scene->order.push_back(j);
    scene->joint_nodes.push_back(j);
  }
  ImportedScene out;
  out.mesh_extras.resize(rig.meshes.size());
  for (PosedClip& clip : clips) {
    scene->clips.push_back(
        std::make_shared<FunctionMotion>(std::move(clip.evaluate), rig.joints.size()));
    out.clips.push_back(std::move(clip.info));
  }
  out.rig = std::move(rig);
  out.animation = std::move(scene);
  return out;
}

}  // namespace sinew::client
