#include "client/cli/weight_picture.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

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

// Adds the weights of `skin` to those of its joints, vertices numbered from `offset`.
void AddSkin(const client::Skin& skin, std::size_t vertices, std::size_t offset,
             std::vector<JointWeights>& joints) {
  std::size_t at = 0;
  for (std::size_t v = 0; v < std::min(vertices, skin.influence_counts.size()); ++v) {
    double sum = 0;
    const std::size_t end =
        std::min<std::size_t>({at + skin.influence_counts[v], skin.influence_joints.size(),
                               skin.influence_weights.size()});
    const auto add = [&](std::uint32_t slot, float weight) {
      if (slot >= skin.joints.size() || skin.joints[slot] >= joints.size()) return;
      joints[skin.joints[slot]].weights[offset + v] += weight;
    };
    for (; at < end; ++at) {
      add(skin.influence_joints[at], skin.influence_weights[at]);
      sum += skin.influence_weights[at];
    }
    if (sum == 0 && skin.fallback_joint) add(*skin.fallback_joint, 1);
  }
}

void Summarise(JointWeights& joint) {
  for (const float weight : joint.weights) {
    if (!(weight > 0)) continue;
    ++joint.vertices;
    joint.sum += weight;
    joint.largest = std::max(joint.largest, weight);
  }
}

// The heaviest ones, in their old order.
void KeepHeaviest(std::vector<JointWeights>& joints, std::size_t most) {
  if (joints.size() <= most) return;
  std::vector<std::size_t> order(joints.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return joints[a].sum > joints[b].sum; });
  order.resize(most);
  std::sort(order.begin(), order.end());
  std::vector<JointWeights> kept;
  for (const std::size_t k : order) kept.push_back(std::move(joints[k]));
  joints = std::move(kept);
}

}  // namespace

absl::StatusOr<RigWeights> ReadWeights(const client::RigData& rig, const std::string& option,
                                       const std::string& which) {
  RigWeights result;
  std::vector<JointWeights>& joints = result.joints;
  for (std::size_t j = 0; j < rig.joints.size(); ++j) {
    joints.push_back({.joint = j, .name = rig.joints[j].name});
    joints.back().weights.resize(rig.vertices());
  }
  std::size_t offset = 0;
  for (const client::Mesh& mesh : rig.meshes) {
    AddSkin(mesh.skin, mesh.vertices(), offset, joints);
    offset += mesh.vertices();
  }
  for (JointWeights& joint : joints) {
    Summarise(joint);
    result.carrying += joint.vertices > 0 ? 1 : 0;
  }
  if (which == "all") {
    std::erase_if(joints, [](const JointWeights& joint) { return joint.vertices == 0; });
    KeepHeaviest(joints, kMostWeightPanels);
    if (!joints.empty()) return result;
    return absl::InvalidArgumentError(
        absl::StrCat(option, ": no joint of this rig carries a vertex"));
  }
  std::erase_if(joints, [&](const JointWeights& joint) { return joint.name != which; });
  if (!joints.empty()) return result;
  return absl::NotFoundError(absl::StrCat(option, ": got \"", which,
                                          "\", need all or a joint of this rig, see `sinew inspect "
                                          "FILE --joints`"));
}

std::vector<PosedPanel> WeightPanels(const client::RigData& rig, const RigWeights& weights,
                                     PictureOptions& options) {
  const std::vector<float> positions = RestPositions(rig);
  std::vector<PosedPanel> panels;
  for (const JointWeights& joint : weights.joints) {
    PosedPanel& panel = panels.emplace_back();
    panel.label = joint.name;
    panel.note = absl::StrFormat("%s vertices, up to %.3g", CountText(joint.vertices),
                                 static_cast<double>(joint.largest));
    panel.positions = positions;
    panel.colours = client::RampColours(joint.weights, 0, 1, client::Ramp::kHeat);
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
