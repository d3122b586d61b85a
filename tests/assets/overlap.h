// overlap.h - how much of the space inside a closed mesh it encloses twice, or inside out.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "core/base/types.h"

namespace sinew::testing {

struct OverlapVolumes {
  double signed_volume = 0;
  double overlap = 0;   // integral of w - 1 where the winding number w is 2 or more
  double inverted = 0;  // integral of -w where w is negative
  // signed volume less the integral of w - [w >= 1]: its error scales with the overlap alone.
  double Union() const { return signed_volume - overlap + inverted; }
};

// Casts columns along z, `columns` of them along the longer side of the points' bounds in x y.
OverlapVolumes MeasureOverlap(std::span<const std::array<std::uint32_t, 3>> triangles,
                              std::span<const Vec3d> points, int columns = 440);

}  // namespace sinew::testing
