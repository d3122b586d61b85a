// ddm_lane.h - one vertex of Direct Delta Mush variants 0 and 1 in double: the lanes that the
// kernel leaves.
#pragma once

#include <array>
#include <cstddef>

#include "core/base/types.h"
#include "core/deform/ddm/ddm_kernel.h"

namespace sinew {

// The rotation to use where `fitted` (nearest rotation of H) is or is not unique, beside the
// blended quaternion (any length > 0, w x y z): the blended rotation where it is not; with `guard`,
// a way between the two where they are 60 to 85 degrees apart and the blended one beyond, so that R
// does not jump where H becomes ambiguous.
Mat3d ChooseRotation(const Mat3d& h, const std::array<double, 4>& blend, bool guard);

// A value of a table in either storage, exact. `group`: 0 second moments, groups - 1 first moments;
// negative for weights.
double DdmValue(const DdmTable& table, std::size_t pair, int field, int group, std::size_t lane);

// Neighbourhood of a lane for variant 1: its second moments about the centroid (00 01 02 11 12 22)
// scaled to trace 1, their determinant and 1 / trace.
struct DdmShape {
  double second[6] = {};
  double determinant = 0, inverse_trace = 0;
};
DdmShape ShapeOfLane(const DdmTable& table, std::size_t first, std::size_t last, std::size_t lane);

// A determinant below this is too flat for an affine fit, below the second one for float32.
inline constexpr double kFlatShape = 1e-6, kThinShape = 1e-4;

// Point of lane `lane` of block `block`. args.out holds the lane's rest point to move if args.in is
// not null. Only additions, multiplications, divisions and square roots: the same bits on every
// machine.
Vec3f DdmLane(const DdmKernelArgs& args, std::size_t block, std::size_t lane);

}  // namespace sinew
