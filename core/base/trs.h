// trs.h - a transform as translation, rotation and scale.
#pragma once

#include <array>
#include <cmath>

#include "core/base/types.h"

namespace sinew {

// Scales first, then rotates, then translates. The quaternion (x, y, z, w) may have any length; 0
// does not rotate.
struct Trs {
  std::array<double, 3> translation{};
  std::array<double, 4> rotation{0, 0, 0, 1};
  std::array<double, 3> scale{1, 1, 1};
};

inline AffineD ToAffine(const Trs& trs) {
  const auto& [t, q, s] = trs;
  const double length = std::sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
  if (!(length > 0)) return {{s[0], 0, 0, t[0], 0, s[1], 0, t[1], 0, 0, s[2], t[2]}};
  const double x = q[0] / length, y = q[1] / length, z = q[2] / length, w = q[3] / length;
  return {{(1 - 2 * (y * y + z * z)) * s[0], 2 * (x * y - w * z) * s[1], 2 * (x * z + w * y) * s[2],
           t[0],  //
           2 * (x * y + w * z) * s[0], (1 - 2 * (x * x + z * z)) * s[1], 2 * (y * z - w * x) * s[2],
           t[1],  //
           2 * (x * z - w * y) * s[0], 2 * (y * z + w * x) * s[1], (1 - 2 * (x * x + y * y)) * s[2],
           t[2]}};
}

}  // namespace sinew
