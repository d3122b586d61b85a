#include "client/rig/core_parts.h"

#include <cstdint>
#include <utility>
#include <vector>

#include "client/rig/rest_pose.h"

namespace sinew::client {

absl::StatusOr<Skeleton> SkeletonOf(const RigData& rig) {
  std::vector<SkeletonJoint> joints;
  std::vector<AffineD> local;
  for (const Joint& joint : rig.joints) {
    joints.push_back({.name = joint.name,
                      .parent = joint.parent < 0 ? kNoParent : std::uint32_t(joint.parent),
                      .compensates_scale = joint.compensates_scale});
  }
  for (std::size_t j = 0; j < rig.rest_local.size() / 12; ++j) {
    local.push_back(MatrixAt(rig.rest_local, j));
  }
  return Skeleton::Create(std::move(joints), std::move(local));
}

absl::StatusOr<sinew::Mesh> CoreMesh(const Mesh& mesh) {
  MeshSource source;
  for (std::size_t v = 0; v < mesh.vertices(); ++v) {
    const float* const p = &mesh.positions[3 * v];
    source.positions.push_back({p[0], p[1], p[2]});
  }
  source.face_vertices = mesh.face_vertices;
  source.face_offsets = {0};
  if (mesh.face_sizes.empty()) {
    for (std::uint32_t k = 3; k <= mesh.face_vertices.size(); k += 3) {
      source.face_offsets.push_back(k);
    }
  }
  for (const std::uint32_t size : mesh.face_sizes) {
    source.face_offsets.push_back(source.face_offsets.back() + size);
  }
  source.parts = {{.name = mesh.name,
                   .vertex_count = static_cast<std::uint32_t>(mesh.vertices()),
                   .face_count = static_cast<std::uint32_t>(source.face_offsets.size() - 1)}};
  return sinew::Mesh::Create(std::move(source));
}

}  // namespace sinew::client
