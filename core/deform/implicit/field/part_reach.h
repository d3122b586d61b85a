// part_reach.h - how large a part's field can get, cell by cell: so that parts which cannot matter
// at a point need not be evaluated there.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "core/deform/implicit/field/hrbf.h"

namespace sinew {

// [kReachCells] upper bounds of the compact field in the cells of the box, in 255ths. From f and
// its slope in the middle of each cell, with room for how the slope turns in it. A bound, but no
// proof: HrbfKernel holds F to it.
std::vector<std::uint8_t> FindReach(const Hrbf& fit, const std::array<double, 3>& least,
                                    const std::array<double, 3>& largest);

}  // namespace sinew
