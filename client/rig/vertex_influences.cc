#include "client/rig/vertex_influences.h"

#include <algorithm>

namespace sinew::client {
namespace {

// Adds the vertex whose influences `row` holds, joints in any order and any number of times.
void AddVertex(std::vector<JointWeight>& row, RigInfluences& all) {
  std::stable_sort(row.begin(), row.end(),
                   [](const JointWeight& a, const JointWeight& b) { return a.joint < b.joint; });
  for (std::size_t k = 0; k < row.size();) {
    JointWeight sum{row[k].joint, 0};
    for (; k < row.size() && row[k].joint == sum.joint; ++k) sum.weight += row[k].weight;
    if (sum.weight != 0) all.entries.push_back(sum);
  }
  all.first.push_back(all.entries.size());
  row.clear();
}

void AddSkin(const client::Skin& skin, std::size_t vertices, std::size_t joints,
             RigInfluences& all) {
  std::vector<JointWeight> row;
  const std::size_t entries = std::min(skin.influence_joints.size(), skin.influence_weights.size());
  std::size_t at = 0;
  for (std::size_t v = 0; v < vertices; ++v) {
    const auto add = [&](std::uint32_t slot, float weight) {
      if (slot >= skin.joints.size() || skin.joints[slot] >= joints) return;
      row.push_back({skin.joints[slot], weight});
    };
    if (v < skin.influence_counts.size()) {
      double sum = 0;
      for (const std::size_t end = std::min(entries, at + skin.influence_counts[v]); at < end;
           ++at) {
        add(skin.influence_joints[at], skin.influence_weights[at]);
        sum += double{skin.influence_weights[at]};
      }
      if (sum == 0 && skin.fallback_joint) add(*skin.fallback_joint, 1);
    }
    AddVertex(row, all);
  }
}

}  // namespace

RigInfluences ReadInfluences(const client::RigData& rig) {
  RigInfluences all;
  all.first.reserve(rig.vertices() + 1);
  for (const client::Mesh& mesh : rig.meshes) {
    AddSkin(mesh.skin, mesh.vertices(), rig.joints.size(), all);
  }
  return all;
}

std::vector<float> WeightsOf(const RigInfluences& influences, std::size_t joint) {
  std::vector<float> weights(influences.vertices());
  for (std::size_t v = 0; v < weights.size(); ++v) {
    for (const JointWeight& entry : influences.Of(v)) {
      if (entry.joint == joint) weights[v] = entry.weight;
    }
  }
  return weights;
}

}  // namespace sinew::client
