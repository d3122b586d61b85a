// vectors.h - length and direction of a vector.
#pragma once

#include <cmath>

#include "core/base/types.h"

namespace sinew {

inline double Length(const Vec3d& v) {
  return std::sqrt(Dot(v, v));
}

// v / |v|; a zero vector stays zero.
inline Vec3d Unit(const Vec3d& v) {
  const double length = Length(v);
  return length > 0 ? (1 / length) * v : Vec3d{};
}

}  // namespace sinew
