// adjacency.h - welded points of a rig and their one-rings.
//
// Meshes from files are split along texture seams and hard edges. Smoothing and sums over
// neighbours work on welded points and copy their results back to the vertices, so that seams stay
// closed.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/mesh/weld.h"
#include "core/rig/layout.h"
#include "core/rig/rig.h"

namespace sinew {

// Welds vertices with equal numbers in the mesh's weld array. Without one: vertices at one place
// (see WeldByPosition) with equal weights and equal shape offsets. The rig has already given one
// row of weights to vertices at one place whose own rows differ by rounding, see
// core/rig/point_weights.h. O(V + influences + shape offsets).
WeldedPoints Weld(const Rig& rig, const Task& task = Task({.parallel = false}));
// Additional bytes needed for the rig's shapes.
std::size_t ShapeWeldBytes(const Rig& rig);

// Welded points ordered by their lowest lanes, so that loops over blocks are loops over points.
struct PointOrder {
  std::vector<std::uint32_t> point;   // [P] welded point at an index
  std::vector<std::uint32_t> number;  // [P] index of a welded point
  std::vector<std::uint32_t> lane;    // [P] lowest lane of a welded point
  std::vector<std::uint32_t> vertex;  // [V] place of a vertex's point
};
PointOrder OrderPoints(const WeldedPoints& welded, const BlockLayout& layout);

struct Adjacency {
  std::vector<std::uint64_t> offsets;     // [P + 1] into neighbours
  std::vector<std::uint32_t> neighbours;  // ascending within a row, never the point itself

  std::size_t points() const { return offsets.size() - 1; }
  std::span<const std::uint32_t> row(std::size_t p) const {
    return {neighbours.data() + offsets[p], offsets[p + 1] - offsets[p]};
  }
};

// Points joined by a polygon edge, each once; an isolated point has an empty row. Degenerate,
// duplicate and non-manifold faces are allowed. O(corners).
Adjacency PolygonNeighbours(const Mesh& mesh, const WeldedPoints& welded,
                            const Task& task = Task({.parallel = false}));

// PolygonNeighbours of the mesh whose polygons are split into fans from their first corner.
Adjacency TriangleNeighbours(const Mesh& mesh, const WeldedPoints& welded,
                             const Task& task = Task({.parallel = false}));

// [P] 1 for both ends of an edge that belongs to exactly one face, else 0. O(corners log valence).
std::vector<std::uint8_t> BorderPoints(const Mesh& mesh, const WeldedPoints& welded);

// Root of the mean squared edge length, scene units; 0 without edges.
double RmsEdge(const Mesh& mesh, const WeldedPoints& welded, const Adjacency& adjacency);

}  // namespace sinew
