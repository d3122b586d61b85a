#include "client/bake/pictures/weight_picture.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>

#include <algorithm>
#include <functional>

#include "client/bake/base/errors.h"
#include "client/bake/base/quantity.h"
#include "client/bake/character/joint_suggestion.h"
#include "client/render/colour_ramp.h"
#include "client/rig/rest_pose.h"

namespace sinew::bake {
namespace {

// The heaviest ones, in their old order.
void KeepHeaviest(std::vector<JointShare>& joints, std::size_t most) {
  if (joints.size() <= most) return;
  std::ranges::stable_sort(joints, std::ranges::greater{}, &JointShare::sum);
  joints.resize(most);
  std::ranges::sort(joints, {}, &JointShare::joint);
}

}  // namespace

absl::StatusOr<RigWeights> ReadWeights(const client::RigData& rig, const std::string& option,
                                       const std::string& which) {
  RigWeights result;
  result.influences = client::ReadInfluences(rig);
  std::vector<JointShare>& joints = result.joints;
  joints = JointShares(result.influences, rig.joints.size());
  const auto idle = [](const JointShare& joint) { return joint.vertices == 0; };
  result.carrying = joints.size() - static_cast<std::size_t>(std::ranges::count_if(joints, idle));
  constexpr char kAll[] = "all";
  if (which == kAll) {
    std::erase_if(joints, idle);
    KeepHeaviest(joints, kMaxWeightPanels);
    if (!joints.empty()) return result;
    return absl::InvalidArgumentError(
        absl::StrCat(option, ": no joint of this rig carries a vertex"));
  }
  const absl::StatusOr<std::size_t> joint = FindJoint(rig, which, kAll);
  if (!joint.ok()) return Prefixed(option, joint.status());
  joints = {joints[*joint]};
  return result;
}

std::vector<PosedPanel> WeightPanels(const client::RigData& rig, const RigWeights& weights,
                                     PictureOptions& options) {
  const std::vector<float> positions = client::RestPositions(rig);
  std::vector<PosedPanel> panels;
  for (const JointShare& joint : weights.joints) {
    PosedPanel& panel = panels.emplace_back();
    panel.label = rig.joints[joint.joint].name;
    panel.note = absl::StrFormat("%s vertices, up to %.3g", CountText(joint.vertices),
                                 static_cast<double>(joint.largest));
    panel.positions = positions;
    panel.colours = client::RampColours(client::WeightsOf(weights.influences, joint.joint), 1);
  }
  options.legend = client::Legend{.title = "Weight of the joint", .low = "0", .high = "1"};
  return panels;
}

}  // namespace sinew::bake
