#include "client/rig/rig_traits.h"

#include <algorithm>
#include <cmath>

#include "client/rig/vertex_influences.h"

namespace sinew::client {
namespace {

MeshTraits CountMesh(const client::Mesh& mesh) {
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
  return facts;
}

}  // namespace

RigTraits CountRig(const client::RigData& rig) {
  RigTraits facts;
  const RigInfluences influences = ReadInfluences(rig);
  std::size_t vertex = 0;
  if (rig.vertices() > 0) {
    facts.bounds = {INFINITY, INFINITY, INFINITY, -INFINITY, -INFINITY, -INFINITY};
  }
  for (const client::Mesh& mesh : rig.meshes) {
    MeshTraits& counts = facts.meshes.emplace_back(CountMesh(mesh));
    for (std::size_t v = 0; v < mesh.vertices(); ++v, ++vertex) {
      const std::size_t used = influences.Of(vertex).size();
      counts.max_influences = std::max(counts.max_influences, used);
      counts.over_four += used > 4 ? 1 : 0;
      for (std::size_t c = 0; c < 3; ++c) {
        const double x = mesh.positions[v * 3 + c];
        facts.bounds[c] = std::min(facts.bounds[c], x);
        facts.bounds[3 + c] = std::max(facts.bounds[3 + c], x);
      }
    }
  }
  std::vector<bool> weighted(rig.joints.size());
  for (const JointWeight& entry : influences.entries) weighted[entry.joint] = true;
  for (std::size_t j = 0; j < weighted.size(); ++j) {
    if (!weighted[j] && !rig.joints[j].helper) facts.joints_without_weights.push_back(j);
  }
  return facts;
}

}  // namespace sinew::client
