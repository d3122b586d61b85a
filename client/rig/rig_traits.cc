#include "client/rig/rig_traits.h"

#include <algorithm>
#include <limits>

namespace sinew::cli {
namespace {

// Marks the joints with weight and counts influences.
void CountSkin(const client::Skin& skin, MeshTraits& facts, std::vector<bool>& weighted) {
  std::size_t at = 0;
  const std::size_t entries = std::min(skin.influence_joints.size(), skin.influence_weights.size());
  for (const std::uint32_t count : skin.influence_counts) {
    std::size_t used = 0;
    const std::size_t end = std::min(entries, at + count);
    for (; at < end; ++at) {
      if (skin.influence_weights[at] == 0) continue;
      ++used;
      const std::uint32_t binding = skin.influence_joints[at];
      if (binding < skin.joints.size() && skin.joints[binding] < weighted.size())
        weighted[skin.joints[binding]] = true;
    }
    facts.max_influences = std::max(facts.max_influences, used);
    facts.over_four += used > 4 ? 1 : 0;
  }
}

MeshTraits CountMesh(const client::Mesh& mesh, std::vector<bool>& weighted) {
  MeshTraits facts;
  facts.name = mesh.name;
  facts.vertices = mesh.vertices();
  facts.skin_joints = mesh.skin.joints.size();
  if (mesh.face_sizes.empty()) {
    facts.faces = facts.triangles = mesh.face_vertices.size() / 3;
  } else {
    facts.faces = mesh.face_sizes.size();
    for (const std::uint32_t size : mesh.face_sizes) facts.triangles += size >= 3 ? size - 2 : 0;
  }
  for (const client::Shape& shape : mesh.shapes) facts.morphs += shape.targets.size();
  CountSkin(mesh.skin, facts, weighted);
  return facts;
}

}  // namespace

RigTraits CountRig(const client::RigData& rig) {
  RigTraits facts;
  std::vector<bool> weighted(rig.joints.size());
  constexpr float kHuge = std::numeric_limits<float>::infinity();
  facts.bounds = {kHuge, kHuge, kHuge, -kHuge, -kHuge, -kHuge};
  for (const client::Mesh& mesh : rig.meshes) {
    facts.meshes.push_back(CountMesh(mesh, weighted));
    for (std::size_t k = 0; k < mesh.positions.size(); ++k) {
      facts.bounds[k % 3] = std::min(facts.bounds[k % 3], mesh.positions[k]);
      facts.bounds[3 + k % 3] = std::max(facts.bounds[3 + k % 3], mesh.positions[k]);
    }
  }
  if (rig.vertices() == 0) facts.bounds = {};
  for (std::size_t j = 0; j < weighted.size(); ++j) {
    if (!weighted[j] && !rig.joints[j].helper) facts.joints_without_weights.push_back(j);
  }
  return facts;
}

}  // namespace sinew::cli
