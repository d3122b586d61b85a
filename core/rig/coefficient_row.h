// coefficient_row.h - the coefficients of a vertex as methods use them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/rig/rig.h"

namespace sinew {

// Bindings of a vertex, the main one first: those of the rig's coefficients, or where there are
// none with so many columns, of its weights.
std::span<const std::uint16_t> CoefficientBindings(const Rig& rig, std::uint32_t columns,
                                                   std::size_t v);

// The values of those bindings, [bindings][columns]; weights stand for themselves without offsets.
// What the sums of joint_coefficients.h lack is added to the main binding.
std::vector<double> CoefficientValues(const Rig& rig, std::uint32_t columns, std::size_t v);

}  // namespace sinew
