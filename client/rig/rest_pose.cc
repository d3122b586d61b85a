#include "client/rig/rest_pose.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "client/rig/core_parts.h"
#include "client/rig/vertex_influences.h"

namespace sinew::client {

AffineD MatrixAt(std::span<const float> matrices, std::size_t index) {
  AffineD matrix;
  std::ranges::copy(matrices.subspan(index * 12, 12), matrix.m.begin());
  return matrix;
}

std::vector<float> RestPositions(const client::RigData& rig) {
  return PosedPositions(rig, RestJoints(rig));
}

std::vector<float> PosedPositions(const client::RigData& rig, std::span<const float> posed) {
  const std::size_t joints = posed.size() / 12;
  const RigInfluences influences = ReadInfluences(rig);
  std::vector<float> positions;
  positions.reserve(rig.vertices() * 3);
  std::size_t vertex = 0;
  for (const client::Mesh& mesh : rig.meshes) {
    const client::Skin& skin = mesh.skin;
    std::vector<AffineD> to_posed(joints);  // from bind space
    const std::size_t slots = std::min(skin.joints.size(), skin.inverse_bind.size() / 12);
    for (std::size_t s = 0; s < slots; ++s) {
      const std::uint32_t joint = skin.joints[s];
      if (joint >= joints) continue;
      to_posed[joint] = Compose(MatrixAt(posed, joint), MatrixAt(skin.inverse_bind, s));
    }
    const AffineD to_bind = MatrixAt(skin.geometry_bind, 0);
    for (std::size_t v = 0; v < mesh.vertices(); ++v, ++vertex) {
      const float* p = &mesh.positions[v * 3];
      const Vec3d bound = Apply(to_bind, {p[0], p[1], p[2]});
      Vec3d sum;
      double weight = 0;
      for (const JointWeight& entry : influences.Of(vertex)) {
        if (entry.joint >= joints) continue;
        sum = sum + double{entry.weight} * Apply(to_posed[entry.joint], bound);
        weight += double{entry.weight};
      }
      const Vec3f at = ToFloat(weight > 0 ? (1 / weight) * sum : bound);
      positions.insert(positions.end(), {at.x, at.y, at.z});
    }
  }
  return positions;
}

Mesh MergedMesh(const RigData& rig) {
  Mesh all;
  all.positions = RestPositions(rig);
  std::uint32_t first = 0;
  for (const Mesh& mesh : rig.meshes) {
    for (const std::uint32_t v : mesh.face_vertices) all.face_vertices.push_back(first + v);
    all.face_sizes.insert(all.face_sizes.end(), mesh.face_sizes.begin(), mesh.face_sizes.end());
    if (mesh.face_sizes.empty()) {
      all.face_sizes.insert(all.face_sizes.end(), mesh.face_vertices.size() / 3, 3);
    }
    first += static_cast<std::uint32_t>(mesh.vertices());
  }
  return all;
}

std::vector<float> RestJoints(const client::RigData& rig) {
  std::vector<float> model;
  const auto skeleton = SkeletonOf(rig);
  if (!skeleton.ok()) return model;
  for (const AffineD& joint : skeleton->rest_model()) {
    const Affine rounded = ToFloat(joint);
    model.insert(model.end(), rounded.m.begin(), rounded.m.end());
  }
  return model;
}

double BoxDiagonal(std::span<const float> points) {
  std::array<double, 3> low{INFINITY, INFINITY, INFINITY}, high{-INFINITY, -INFINITY, -INFINITY};
  for (std::size_t k = 0; k < points.size(); ++k) {
    low[k % 3] = std::min<double>(low[k % 3], points[k]);
    high[k % 3] = std::max<double>(high[k % 3], points[k]);
  }
  return points.empty() ? 0 : std::hypot(high[0] - low[0], high[1] - low[1], high[2] - low[2]);
}

}  // namespace sinew::client
