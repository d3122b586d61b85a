// ddm_lane.h - one vertex of Direct Delta Mush variants 0 and 1 in double, for lanes the kernel
// leaves.
#pragma once

#include <array>
#include <cstddef>

#include "core/base/types.h"
#include "core/deform/ddm/ddm_kernel.h"

namespace sinew {

// Chooses between `fitted`, the nearest rotation of H, and the blended quaternion (any length > 0,
// w x y z): the blended rotation if `fitted` is not unique; with `guard`, a transition where they
// are 60 to 85 degrees apart and the blended rotation beyond, so that R does not jump where H
// becomes ambiguous.
Mat3d ChooseRotation(const Mat3d& h, const std::array<double, 4>& blend, bool guard);

// Neighbourhood shape of a lane for variant 1: second moments about the centroid (00 01 02 11 12
// 22) scaled to trace 1, their determinant, and 1 / trace.
struct DdmShape {
  double second[6] = {};
  double determinant = 0, inverse_trace = 0;
};
DdmShape ShapeOfLane(const DdmTable& table, std::size_t first, std::size_t last, std::size_t lane);

// Determinants below which a shape is too flat for an affine fit, and too thin for float.
inline constexpr double kFlatShape = 1e-6, kThinShape = 1e-4;

// The point of lane `lane` of block `block`. args.out holds the lane's rest point if args.in is
// set. Uses only additions, multiplications, divisions and square roots: the same bits on every
// machine.
Vec3f DdmLane(const DdmKernelArgs& args, std::size_t block, std::size_t lane);

}  // namespace sinew
