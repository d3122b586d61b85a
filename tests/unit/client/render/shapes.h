// shapes.h - small meshes to take pictures of.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "client/render/render.h"

namespace sinew::client::testing {

struct TestMesh {
  std::vector<float> positions;
  std::vector<std::uint32_t> face_sizes, face_vertices;

  MeshView View() const { return {positions, {}, face_sizes, face_vertices, {}}; }
};

// A cube from -1 to 1: 8 vertices, 6 quads, outward.
inline TestMesh Cube() {
  TestMesh mesh;
  for (int v = 0; v < 8; ++v) {
    for (int axis = 0; axis < 3; ++axis) {
      mesh.positions.push_back((v >> axis & 1) != 0 ? 1.0f : -1.0f);
    }
  }
  mesh.face_sizes.assign(6, 4);
  mesh.face_vertices = {0, 4, 6, 2, 1, 3, 7, 5, 0, 1, 5, 4, 2, 6, 7, 3, 0, 2, 3, 1, 4, 5, 7, 6};
  return mesh;
}

// A sphere of radius 1 around the origin, poles along Y.
inline TestMesh Sphere() {
  constexpr std::uint32_t kAround = 64, kRings = 32;
  TestMesh mesh;
  for (std::uint32_t ring = 0; ring <= kRings; ++ring) {
    for (std::uint32_t k = 0; k < kAround; ++k) {
      const float polar = 3.14159265f * static_cast<float>(ring) / kRings;
      const float turn = 6.2831853f * static_cast<float>(k) / kAround;
      mesh.positions.push_back(std::sin(polar) * std::sin(turn));
      mesh.positions.push_back(std::cos(polar));
      mesh.positions.push_back(std::sin(polar) * std::cos(turn));
    }
  }
  for (std::uint32_t ring = 0; ring < kRings; ++ring) {
    for (std::uint32_t k = 0; k < kAround; ++k) {
      const std::uint32_t next = (k + 1) % kAround, above = ring * kAround;
      mesh.face_sizes.push_back(4);
      mesh.face_vertices.insert(mesh.face_vertices.end(), {above + k, above + kAround + k,
                                                           above + kAround + next, above + next});
    }
  }
  return mesh;
}

}  // namespace sinew::client::testing
