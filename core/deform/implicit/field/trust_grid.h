// trust_grid.h - where the field of a part is skin of that part, on a grid over its support.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/base/types.h"

namespace sinew {

// Points along each side of the grid, one cell apart. The cells are those of kReachSide.
inline constexpr std::size_t kTrustSide = 17, kTrustPoints = kTrustSide * kTrustSide * kTrustSide;

// The lead of a part over all others (PosedField::Trust), relative to its size, as it is stored.
std::uint8_t PackedLead(float lead);
// Leads beyond this are stored as this.
inline constexpr float kMostLead = 0.64f;

// Trust at a point of the grid, by linear interpolation of leads. Continuous; 0 outside the grid.
//
//    leads  [kTrustPoints] z, y, x
//    at     in cells
float TrustOfGrid(const std::uint8_t* leads, const Vec3f& at);

}  // namespace sinew
