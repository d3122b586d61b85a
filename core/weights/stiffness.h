// stiffness.h - cotangent stiffness and lumped mass of a surface for linear solves.
//
// The stiffness matrix K of linear finite elements: K_ij = -w_ij, K_ii = sum_j w_ij, w_ij = half
// the sum of the cotangents opposite an edge, over all its triangles. Negative cotangents are kept,
// so K is exact for linear functions. All edges are first lengthened by the least amount that gives
// every triangle an area (a mollified intrinsic metric, after Sharp and Crane 2020), so slivers and
// degenerate triangles do no harm.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/types.h"
#include "core/surface/part_triangles.h"

namespace sinew::weights {

struct Stiffness {
  struct Edge {
    std::uint32_t low, high;
    double weight;
  };
  std::vector<Edge> edges;       // by (low, high), each once
  std::vector<double> diagonal;  // [P] sum of a point's edge weights
  std::vector<double> mass;      // [P] a third of the area around a point
  double longer = 0;             // added to every edge
};

// The triangles must have distinct corners.
Stiffness MakeStiffness(std::span<const Vec3d> points, std::span<const Triangle> triangles);

}  // namespace sinew::weights
