// part_reach.h - lower bounds of a part's distance per grid cell, to skip parts that cannot matter
// at a point.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "core/deform/implicit/field/hrbf.h"

namespace sinew {

// [kReachCells] bounds of f / r in the cells of the box, see LeastOfCell, from f and its gradient
// at each cell's centre with a margin for curvature. The bound is not strict: DistanceKernel clamps
// f to it.
std::vector<std::uint8_t> FindReach(const Hrbf& fit, const std::array<double, 3>& least,
                                    const std::array<double, 3>& largest);

}  // namespace sinew
