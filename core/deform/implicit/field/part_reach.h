// part_reach.h - upper bounds of a part's field per grid cell, to skip parts that cannot matter at
// a point.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "core/deform/implicit/field/hrbf.h"

namespace sinew {

// [kReachCells] upper bounds of the compact field in the cells of the box, in 255ths, from f and
// its gradient at each cell's centre with a margin for curvature. The bound is not strict:
// HrbfKernel clamps F to it.
std::vector<std::uint8_t> FindReach(const Hrbf& fit, const std::array<double, 3>& least,
                                    const std::array<double, 3>& largest);

}  // namespace sinew
