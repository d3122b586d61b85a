// adjacency.h - welded points of a rig and their neighbours along polygon edges.
//
// A mesh that comes from a file is cut along texture seams and hard edges. Whatever smooths or sums
// over neighbours works on welded points instead and copies its results back to the vertices, or
// the cuts would open.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/rig/layout.h"
#include "core/rig/rig.h"

namespace sinew {

// Which vertices are one point.
struct WeldedPoints {
  std::vector<std::uint32_t>
      point;  // [V] point of a vertex; points are numbered by their first vertex
  std::vector<std::uint32_t> first;  // [P] lowest vertex of a point

  std::size_t points() const { return first.size(); }
};

// Vertices whose numbers in the mesh's own weld array agree. Without such an array: vertices of the
// whole rig within 1e-6 of the bounding-box diagonal of each other (up to 1.7e-6 within a cell of
// the search lattice) that have equal weights and equal shape offsets; closed under chains.
// Independent of the order of vertices. Cost O(V + influences + shape offsets).
WeldedPoints Weld(const Rig& rig);
// Bytes that this takes for the rig's shapes, beside those for its vertices.
std::size_t ShapeWeldBytes(const Rig& rig);
// Weld for a mesh without a rig: the mesh's own weld array, or positions alone.
WeldedPoints Weld(const Mesh& mesh);

// Welded points in the order of their lowest lanes, so that work along blocks is work along
// points.
struct PointOrder {
  std::vector<std::uint32_t> point;   // [P] welded point of a place
  std::vector<std::uint32_t> number;  // [P] place of a welded point
  std::vector<std::uint32_t> lane;    // [P] lowest lane of a welded point
};
PointOrder OrderPoints(const WeldedPoints& welded, const BlockLayout& layout);

// Compressed rows of neighbours.
struct Adjacency {
  std::vector<std::uint64_t> offsets;     // [P + 1] into neighbours
  std::vector<std::uint32_t> neighbours;  // rising within a row, never the point itself

  std::size_t points() const { return offsets.size() - 1; }
  std::span<const std::uint32_t> row(std::size_t p) const {
    return {neighbours.data() + offsets[p], offsets[p + 1] - offsets[p]};
  }
};

// Points joined by an edge of some polygon, each once; an isolated point has an empty row.
// Degenerate, duplicate and non-manifold faces are fine. Cost O(corners).
Adjacency PolygonNeighbours(const Mesh& mesh, const WeldedPoints& welded);

// As above, with the polygons cut into fans of triangles from their first corner.
Adjacency TriangleNeighbours(const Mesh& mesh, const WeldedPoints& welded);

// [P] 1 for both ends of an edge that belongs to exactly one face, else 0. Cost O(corners log).
std::vector<std::uint8_t> BorderPoints(const Mesh& mesh, const WeldedPoints& welded);

// Root of the mean squared edge length, scene units; 0 without edges.
double RmsEdge(const Mesh& mesh, const WeldedPoints& welded, const Adjacency& adjacency);

}  // namespace sinew
