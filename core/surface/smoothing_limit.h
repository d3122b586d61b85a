// smoothing_limit.h - limits smoothing where it would collapse a surface.
//
// Smoothing beyond the thickness of a limb shrinks the limb onto its axis. The remaining surface
// hardly defines the directions of the removed detail, and as soon as a joint bends, the detail of
// neighbours crosses and faces invert.
#pragma once

#include <span>
#include <vector>

#include "core/surface/laplacian.h"

namespace sinew {

// [P] factor for the step of each point, 0.01 to 1. With r the area of the triangles around a point
// after unlimited smoothing over the area before: 1 if r >= keep, else (r / keep)^2; then blurred
// over the neighbours.
//
//    n         neighbours of the smoothing
//    smoothed  [P] the rest points after unlimited smoothing
//    keep      > 0
std::vector<double> MaxSmoothingSteps(const Mesh& mesh, const WeldedPoints& welded,
                                      const NeighbourWeights& n, std::span<const Vec3d> smoothed,
                                      double keep);

// I - F (I - N), F = diag(factors), factors in (0, 1]: scales the smoothing steps by `factors`.
// Self-adjoint in the inner product weighted by degree / factors. Exactly n if all factors are 1.
NeighbourWeights LimitSmoothing(const NeighbourWeights& n, std::span<const double> factors);

}  // namespace sinew
