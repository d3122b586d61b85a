// weld.h - vertices at one place of a mesh, such as the two sides of a texture seam.
#pragma once

#include <absl/functional/function_ref.h>

#include <cstdint>
#include <span>
#include <vector>

#include "core/mesh/mesh.h"
#include "core/parallel/task.h"

namespace sinew {

// Partition of the vertices into points.
struct WeldedPoints {
  std::vector<std::uint32_t> point;  // [V] points are ordered by their first vertex
  std::vector<std::uint32_t> first;  // [P] lowest vertex of a point

  std::size_t points() const { return first.size(); }
};

// Vertices with equal numbers in the mesh's weld array; without one, WeldByPosition of all.
WeldedPoints Weld(const Mesh& mesh, const Task& task);
// Numbers of classes of some vertices, or none: one class.
using VertexClasses =
    absl::FunctionRef<std::vector<std::uint32_t>(std::span<const std::uint32_t> vertices)>;
// Vertices of one class within 1e-6 of the bounding-box diagonal (up to 1.7e-6 within a grid cell),
// transitively. Independent of the order of vertices. O(V). `classes` is asked once, for the
// vertices that have others near.
WeldedPoints WeldByPosition(const Mesh& mesh, VertexClasses classes, const Task& task);

// Parts of points: each vertex joins the first part of its point whose first vertex it stays
// `together` with. Incomplete when the task is cancelled.
WeldedPoints SplitPoints(
    const WeldedPoints& welded,
    absl::FunctionRef<bool(std::uint32_t first, std::uint32_t vertex)> together, const Task& task);

}  // namespace sinew
