#include "client/import/placed_mesh.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <vector>

namespace sinew::client {
namespace {

using Matrix = std::array<double, 9>;

Matrix LinearPart(const Affine& a) {
  return {a.m[0], a.m[1], a.m[2], a.m[4], a.m[5], a.m[6], a.m[8], a.m[9], a.m[10]};
}

// Its determinant times the inverse transposed: how normals turn.
Matrix Cofactors(const Matrix& m) {
  return {m[4] * m[8] - m[5] * m[7], m[5] * m[6] - m[3] * m[8], m[3] * m[7] - m[4] * m[6],
          m[2] * m[7] - m[1] * m[8], m[0] * m[8] - m[2] * m[6], m[1] * m[6] - m[0] * m[7],
          m[1] * m[5] - m[2] * m[4], m[2] * m[3] - m[0] * m[5], m[0] * m[4] - m[1] * m[3]};
}

// m * v + t, in place.
void Move(const Matrix& m, const std::array<double, 3>& t, float* v) {
  const std::array<double, 3> p = {v[0], v[1], v[2]};
  for (std::size_t r = 0; r < 3; ++r) {
    v[r] = static_cast<float>(m[r * 3] * p[0] + m[r * 3 + 1] * p[1] + m[r * 3 + 2] * p[2] + t[r]);
  }
}

// Directions of `stride` floats each; unit length unless they vanish.
void Turn(const Matrix& m, std::size_t stride, std::vector<float>& directions) {
  for (std::size_t i = 0; i + 2 < directions.size(); i += stride) {
    float* v = &directions[i];
    Move(m, {}, v);
    const double length = std::hypot(v[0], v[1], v[2]);
    if (length == 0) continue;
    for (std::size_t c = 0; c < 3; ++c) v[c] = static_cast<float>(v[c] / length);
  }
}

void TurnFacesOver(Mesh& mesh) {
  std::size_t at = 0;
  const auto reverse = [&](std::size_t size) {
    const auto first = mesh.face_vertices.begin() + static_cast<std::ptrdiff_t>(at);
    std::reverse(first + 1, first + static_cast<std::ptrdiff_t>(size));
    at += size;
  };
  if (mesh.face_sizes.empty()) {
    while (at + 3 <= mesh.face_vertices.size()) reverse(3);
  } else {
    for (const std::uint32_t size : mesh.face_sizes) reverse(size);
  }
  for (std::size_t i = 3; i < mesh.tangents.size(); i += 4) mesh.tangents[i] = -mesh.tangents[i];
}

}  // namespace

Affine WorldTransform(const AnimatedScene& scene, std::size_t node) {
  Affine world = LocalTransform(scene.nodes[node]);
  for (std::int32_t above = scene.nodes[node].parent; above >= 0;) {
    const SceneNode& parent = scene.nodes[static_cast<std::size_t>(above)];
    world = LocalTransform(parent) * world;
    above = parent.parent;
  }
  return world;
}

void PlaceMesh(const Affine& world, Mesh& mesh) {
  if (world.m == Affine().m) return;
  const Matrix linear = LinearPart(world);
  Matrix turn = Cofactors(linear);
  const double determinant = linear[0] * turn[0] + linear[1] * turn[1] + linear[2] * turn[2];
  for (std::size_t i = 0; i + 2 < mesh.positions.size(); i += 3) {
    Move(linear, {world.m[3], world.m[7], world.m[11]}, &mesh.positions[i]);
  }
  for (Shape& shape : mesh.shapes) {
    for (ShapeTarget& target : shape.targets) {
      for (std::size_t i = 0; i + 2 < target.offsets.size(); i += 3) {
        Move(linear, {}, &target.offsets[i]);
      }
      target.normal_offsets.clear();  // offsets of unit vectors do not turn by themselves
    }
  }
  if (determinant == 0) {
    mesh.normals.clear();
    mesh.tangents.clear();
    return;
  }
  if (determinant < 0) {
    for (double& value : turn) value = -value;
  }
  Turn(turn, 3, mesh.normals);
  Turn(linear, 4, mesh.tangents);
  if (determinant < 0) TurnFacesOver(mesh);
}

}  // namespace sinew::client
