// stretch.h - what each joint does beside turning and moving, for the methods that blend rotations.
#pragma once

#include <cstddef>
#include <span>

namespace sinew {

struct PosedRig;

// A row per binding: 9 of M - R row-major, 1 if any of them counts, 2 unused.
inline constexpr std::size_t kStretchFloats = 12;

// M is the linear part of posed.skin, R of posed.rotations. A row counts where it exceeds what
// matrices composed in float32 are off by.
//   stretch  [E][kStretchFloats]
void FillStretch(const PosedRig& posed, std::span<float> stretch);

}  // namespace sinew
