#include "client/bake/pictures/weights_table.h"

#include <algorithm>
#include <cmath>
#include <span>

namespace sinew::bake {
namespace {

bool HasWeights(const client::RigData& rig) {
  return std::none_of(rig.meshes.begin(), rig.meshes.end(),
                      [](const client::Mesh& mesh) { return mesh.skin.empty(); });
}

// What two vertices do not have in common.
struct RowDifference {
  double absolute = 0;      // sum of |a - b| over the joints of either
  std::size_t entries = 0;  // joints of either
};

RowDifference Compare(std::span<const client::JointWeight> a,
                      std::span<const client::JointWeight> b) {
  RowDifference difference;
  while (!a.empty() || !b.empty()) {
    const bool left = !a.empty() && (b.empty() || a.front().joint <= b.front().joint);
    const bool right = !b.empty() && (a.empty() || b.front().joint <= a.front().joint);
    difference.absolute += std::abs((left ? double{a.front().weight} : 0.0) -
                                    (right ? double{b.front().weight} : 0.0));
    ++difference.entries;
    if (left) a = a.subspan(1);
    if (right) b = b.subspan(1);
  }
  return difference;
}

}  // namespace

std::vector<JointShare> JointShares(const client::RigInfluences& influences, std::size_t joints) {
  std::vector<JointShare> shares(joints);
  for (std::size_t j = 0; j < joints; ++j) shares[j].joint = j;
  double total = 0;
  for (const client::JointWeight& entry : influences.entries) {
    JointShare& share = shares[entry.joint];
    ++share.vertices;
    share.sum += double{entry.weight};
    share.largest = std::max(share.largest, entry.weight);
    total += double{entry.weight};
  }
  for (JointShare& share : shares) share.share = total > 0 ? share.sum / total : 0;
  return shares;
}

std::vector<JointShare> JointShares(const client::RigData& rig) {
  return JointShares(client::ReadInfluences(rig), rig.joints.size());
}

std::optional<WeightDifference> CompareWeights(const client::RigData& a, const client::RigData& b) {
  if (!HasWeights(a) || !HasWeights(b) || a.vertices() != b.vertices() ||
      a.joints.size() != b.joints.size() || a.vertices() == 0) {
    return std::nullopt;
  }
  const client::RigInfluences of_a = client::ReadInfluences(a), of_b = client::ReadInfluences(b);
  double sum = 0;
  std::size_t entries = 0;
  for (std::size_t v = 0; v < of_a.vertices(); ++v) {
    const RowDifference row = Compare(of_a.Of(v), of_b.Of(v));
    sum += row.absolute;
    entries += row.entries;
  }
  return WeightDifference{.mean_absolute = entries > 0 ? sum / static_cast<double>(entries) : 0,
                          .moved = 0.5 * sum / static_cast<double>(of_a.vertices())};
}

}  // namespace sinew::bake
