// ddm_lane.h - one vertex of Direct Delta Mush variant 0 in double: the lanes that the kernel
// leaves.
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

// Point of lane `lane` of block `block`. args.out holds the lane's rest point to move if args.in is
// not null. Only additions, multiplications, divisions and square roots: the same bits on every
// machine.
Vec3f DdmLane(const DdmKernelArgs& args, std::size_t block, std::size_t lane);

}  // namespace sinew
