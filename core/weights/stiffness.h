// stiffness.h - cotangents and masses of a surface for linear solves.
//
// The matrix K of linear finite elements: K_ij = -w_ij, K_ii = sum_j w_ij, w_ij = half the sum of
// the cotangents opposite an edge, over one, two or more triangles. Negative cotangents stay, or K
// would no longer be exact for linear functions. Cotangents come from edge lengths that were all
// made longer by the least amount after which every triangle has an area: slivers and triangles
// without area then do no harm (a mollified intrinsic metric, after Sharp and Crane 2020).
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "core/base/types.h"

namespace sinew::weights {

struct Stiffness {
  struct Edge {
    std::uint32_t low, high;
    double weight;
  };
  std::vector<Edge> edges;       // by (low, high), each once
  std::vector<double> diagonal;  // [P] sum of a point's edge weights
  std::vector<double> mass;      // [P] a third of the area around a point
  double longer = 0;             // what was added to every edge
};

// Of triangles with distinct corners.
Stiffness MakeStiffness(std::span<const Vec3d> points,
                        std::span<const std::array<std::uint32_t, 3>> triangles);

}  // namespace sinew::weights
