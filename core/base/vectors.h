// vectors.h - lengths of vectors.
#pragma once

#include <cmath>

#include "core/base/types.h"

namespace sinew {

inline double Length(const Vec3d& v) {
  return std::sqrt(Dot(v, v));
}

}  // namespace sinew
