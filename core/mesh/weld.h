// weld.h - vertices at one place of a mesh, such as the two sides of a texture seam.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/mesh/mesh.h"

namespace sinew {

// Partition of the vertices into points.
struct WeldedPoints {
  std::vector<std::uint32_t> point;  // [V] points are ordered by their first vertex
  std::vector<std::uint32_t> first;  // [P] lowest vertex of a point

  std::size_t points() const { return first.size(); }
};

// Vertices with equal numbers in the mesh's weld array; without one, WeldByPosition of all.
WeldedPoints Weld(const Mesh& mesh);
// Vertices of one class within 1e-6 of the bounding-box diagonal (up to 1.7e-6 within a grid cell),
// transitively. Independent of the order of vertices. O(V).
//
//    classes  [V] any numbers, or empty: one class
WeldedPoints WeldByPosition(const Mesh& mesh, std::span<const std::uint32_t> classes);

}  // namespace sinew
