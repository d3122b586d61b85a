// surface.h - a rig's mesh as triangles of welded points in double, the input of all metrics.
#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "core/base/types.h"
#include "core/base/vectors.h"
#include "core/parallel/task.h"
#include "core/rig/rig.h"
#include "core/surface/adjacency.h"
#include "core/surface/part_triangles.h"

namespace sinew::metrics {

// P points, T triangles (see ForEachTriangle).
struct Surface {
  // Two points of a polygon edge.
  struct Edge {
    std::uint32_t a = 0, b = 0;
    double length = 0;  // at rest, > 0
  };
  WeldedPoints welded;
  std::vector<Vec3d> rest;          // [P] scene units
  std::vector<Triangle> triangles;  // [T] points
  std::vector<std::uint32_t> face;  // [T] polygon of the mesh
  std::vector<Edge> edges;          // each once; those without length are left out
  double diagonal = 0;              // of the rest bounding box

  static Surface Create(const Rig& rig);
  // The points of a frame. positions: [V] in file order.
  std::vector<Vec3d> Points(std::span<const Vec3f> positions) const;
};

// Normal with twice the triangle's area as length.
inline Vec3d AreaVector(std::span<const Vec3d> points, const Triangle& t) {
  return Cross(points[t[1]] - points[t[0]], points[t[2]] - points[t[0]]);
}

// Parallel sum in fixed chunks, so that the number of threads does not change the bits. body(i,
// part) adds item i to its chunk's part; join(sum, part) adds a part.
template <class Part, std::size_t kGrain = 4096, class Body, class Join>
Part SumOver(const Task& task, std::size_t n, const Body& body, const Join& join) {
  std::vector<Part> parts((n + kGrain - 1) / kGrain);
  task.For(n, kGrain, [&](std::size_t begin, std::size_t end) {
    Part& part = parts[begin / kGrain];
    for (std::size_t i = begin; i < end; ++i) body(i, part);
  });
  Part sum{};
  for (const Part& part : parts) join(sum, part);
  return sum;
}

}  // namespace sinew::metrics
