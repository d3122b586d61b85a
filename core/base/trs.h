// trs.h - a transform as translation, rotation and scale, as in nodes of glTF and joints of
// animations. Right-handed; columns are images of the axes; lengths in the unit of the scene. Pure
// functions, thread-safe.
// Sources: glTF 2.0, 3.5.3; Shepperd 1978, "Quaternion from rotation matrix".
#pragma once

#include <algorithm>
#include <array>
#include <cmath>

#include "core/base/types.h"

namespace sinew {

// Scales first, then rotates, then translates. The quaternion (x, y, z, w) may have any length; 0
// does not rotate.
struct Trs {
  std::array<double, 3> translation{};         // x y z
  std::array<double, 4> rotation{0, 0, 0, 1};  // x y z w
  std::array<double, 3> scale{1, 1, 1};        // of x y z; may be 0 or negative, which mirrors
};

// T * R * S.
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

// Unit quaternion (x, y, z, w) of a rotation. The largest component is positive. `r` must be
// orthonormal with determinant 1: scale has to be divided out before.
inline std::array<double, 4> QuaternionOf(const Mat3d& r) {
  const double trace = r.m[0] + r.m[4] + r.m[8];
  const double size[4] = {trace, r.m[0] * 2 - trace, r.m[4] * 2 - trace, r.m[8] * 2 - trace};
  const auto largest = std::max_element(size, size + 4) - size;
  const double s = std::sqrt(std::max(0.0, 1 + size[largest]));  // twice the largest component
  const double k = 0.5 / s;
  const double yz = r.m[7] - r.m[5], zx = r.m[2] - r.m[6], xy = r.m[3] - r.m[1];
  switch (largest) {
    case 0:
      return {yz * k, zx * k, xy * k, 0.5 * s};
    case 1:
      return {0.5 * s, (r.m[1] + r.m[3]) * k, (r.m[2] + r.m[6]) * k, yz * k};
    case 2:
      return {(r.m[1] + r.m[3]) * k, 0.5 * s, (r.m[5] + r.m[7]) * k, zx * k};
    default:
      return {(r.m[2] + r.m[6]) * k, (r.m[5] + r.m[7]) * k, 0.5 * s, xy * k};
  }
}

}  // namespace sinew
