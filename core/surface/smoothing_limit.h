// smoothing_limit.h - where smoothing a surface has to be held back, or it would collapse.
//
// Smoothing over more than the thickness of a limb draws the limb onto its axis. What is left of
// the surface there says little about where the detail taken from it points, and as soon as a joint
// bends the detail of neighbours crosses: faces turn over that linear blending leaves alone.
#pragma once

#include <span>
#include <vector>

#include "core/surface/laplacian.h"

namespace sinew {

// [P] by what to multiply the step of each point, 0.01 to 1. With r the area that the triangles
// around a point have once smoothed over the one they had: 1 where r >= keep, else (r / keep)^2;
// these are then blurred over the neighbours.
//   n         neighbours the smoothing averages over
//   smoothed  [P] the rest points, smoothed without holding back
//   keep      > 0
std::vector<double> MaxSmoothingSteps(const Mesh& mesh, const WeldedPoints& welded,
                                      const NeighbourWeights& n, std::span<const Vec3d> smoothed,
                                      double keep);

// I - F (I - N), F = diag(factors), factors in (0, 1]: every kind of smoothing by it takes
// `factors` of its steps. Self-adjoint in the product weighted by degree / factors. n itself if all
// are 1.
NeighbourWeights LimitSmoothing(NeighbourWeights n, std::span<const double> factors);

}  // namespace sinew
