// segment.h - the distance of a point to a bone.
#pragma once

#include <algorithm>

#include "core/base/types.h"
#include "core/base/vectors.h"

namespace sinew::fit {

inline double DistanceToSegment(const Vec3d& p, const Vec3d& a, const Vec3d& b) {
  const Vec3d along = b - a;
  const double square = Dot(along, along);
  const double part = square > 0 ? std::clamp(Dot(p - a, along) / square, 0.0, 1.0) : 0;
  return Length(p - a - part * along);
}

}  // namespace sinew::fit
