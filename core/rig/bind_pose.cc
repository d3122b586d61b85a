#include "core/rig/bind_pose.h"

#include <algorithm>
#include <cmath>

#include "core/rig/bones.h"

namespace sinew {

std::vector<AffineD> BindPose(const Rig& rig) {
  std::vector<bool> bound(rig.joints());
  std::vector<AffineD> pose(rig.skeleton().rest_model().begin(), rig.skeleton().rest_model().end());
  for (const Binding& binding : rig.bindings()) {
    if (bound[binding.joint] || Flattens(Linear(binding.inverse_bind))) continue;
    const AffineD joint = Inverse(binding.inverse_bind);
    if (!std::ranges::all_of(joint.m, [](double v) { return std::isfinite(v); })) continue;
    pose[binding.joint] = joint;
    bound[binding.joint] = true;
  }
  // Parents come first.
  for (std::uint32_t j = 0; j < rig.joints(); ++j) {
    const std::uint32_t parent = rig.skeleton().joint(j).parent;
    if (!bound[j] && parent != kNoParent) {
      pose[j] = Compose(pose[parent], rig.skeleton().rest_local()[j]);
    }
  }
  return pose;
}

std::vector<AffineD> ToBindPose(const Rig& rig, const std::vector<AffineD>& bind_pose) {
  std::vector<AffineD> to;
  to.reserve(rig.bindings().size());
  for (const Binding& binding : rig.bindings()) {
    to.push_back(Compose(bind_pose[binding.joint], binding.inverse_bind));
  }
  return to;
}

}  // namespace sinew
