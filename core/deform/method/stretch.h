// stretch.h - scale and shear of each joint, for the methods that blend rotations.
#pragma once

#include <cstddef>
#include <span>

namespace sinew {

struct PosedRig;

// Row per binding: 9 of M - s R row-major, 1 if any of them is significant, 2 unused.
inline constexpr std::size_t kStretchFloats = 12;

// Returns whether any row is significant. M is the linear part of posed.skin, R of posed.rotations.
// A row is significant if it exceeds the rounding of matrices composed in float.
//
//    signs    [E] s, usually posed.signs; empty: all 1
//    stretch  [E][kStretchFloats]
bool FillStretch(const PosedRig& posed, std::span<const float> signs, std::span<float> stretch);

}  // namespace sinew
