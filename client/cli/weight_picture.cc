#include "client/cli/weight_picture.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>

#include <algorithm>
#include <array>
#include <functional>

#include "client/cli/quantity.h"
#include "client/render/colour_ramp.h"

namespace sinew::cli {
namespace {

// a after b, both 3x4 row-major.
void Compose(const float* a, const float* b, float* out) {
  for (std::size_t row = 0; row < 3; ++row) {
    for (std::size_t column = 0; column < 4; ++column) {
      double sum = column == 3 ? a[row * 4 + 3] : 0;
      for (std::size_t k = 0; k < 3; ++k) sum += double{a[row * 4 + k]} * b[k * 4 + column];
      out[row * 4 + column] = static_cast<float>(sum);
    }
  }
}

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
  result.influences = ReadInfluences(rig);
  std::vector<JointShare>& joints = result.joints;
  joints = JointShares(result.influences, rig.joints.size());
  const auto idle = [](const JointShare& joint) { return joint.vertices == 0; };
  result.carrying = joints.size() - static_cast<std::size_t>(std::ranges::count_if(joints, idle));
  if (which == "all") {
    std::erase_if(joints, idle);
    KeepHeaviest(joints, kMostWeightPanels);
    if (!joints.empty()) return result;
    return absl::InvalidArgumentError(
        absl::StrCat(option, ": no joint of this rig carries a vertex"));
  }
  std::erase_if(joints,
                [&](const JointShare& joint) { return rig.joints[joint.joint].name != which; });
  if (!joints.empty()) return result;
  return absl::NotFoundError(absl::StrCat(option, ": got \"", which,
                                          "\", need all or a joint of this rig, see `sinew inspect "
                                          "FILE --joints`"));
}

std::vector<PosedPanel> WeightPanels(const client::RigData& rig, const RigWeights& weights,
                                     PictureOptions& options) {
  const std::vector<float> positions = RestPositions(rig);
  std::vector<PosedPanel> panels;
  for (const JointShare& joint : weights.joints) {
    PosedPanel& panel = panels.emplace_back();
    panel.label = rig.joints[joint.joint].name;
    panel.note = absl::StrFormat("%s vertices, up to %.3g", CountText(joint.vertices),
                                 static_cast<double>(joint.largest));
    panel.positions = positions;
    panel.colours =
        client::RampColours(WeightsOf(weights.influences, joint.joint), 0, 1, client::Ramp::kHeat);
  }
  options.legend = client::Legend{
      .title = "Weight of the joint", .low = "0", .high = "1", .ramp = client::Ramp::kHeat};
  return panels;
}

std::vector<float> RestPositions(const client::RigData& rig) {
  std::vector<float> positions;
  positions.reserve(rig.vertices() * 3);
  for (const client::Mesh& mesh : rig.meshes) {
    const std::array<float, 12>& bind = mesh.skin.geometry_bind;
    for (std::size_t v = 0; v < mesh.vertices(); ++v) {
      const float* p = mesh.positions.data() + v * 3;
      for (std::size_t row = 0; row < 3; ++row) {
        positions.push_back(bind[row * 4] * p[0] + bind[row * 4 + 1] * p[1] +
                            bind[row * 4 + 2] * p[2] + bind[row * 4 + 3]);
      }
    }
  }
  return positions;
}

std::vector<float> RestJoints(const client::RigData& rig) {
  const std::size_t joints = std::min(rig.joints.size(), rig.rest_local.size() / 12);
  std::vector<float> model(joints * 12);
  for (std::size_t j = 0; j < joints; ++j) {
    const float* local = rig.rest_local.data() + j * 12;
    const std::int32_t parent = rig.joints[j].parent;
    if (parent >= 0 && static_cast<std::size_t>(parent) < j) {
      Compose(model.data() + static_cast<std::size_t>(parent) * 12, local, model.data() + j * 12);
    } else {
      std::copy_n(local, 12, model.data() + j * 12);
    }
  }
  return model;
}

}  // namespace sinew::cli
