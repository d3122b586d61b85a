// segment.h - the point of a segment that is nearest to a point.
#pragma once

#include <algorithm>

#include "core/base/types.h"

namespace sinew {

struct OnSegment {
  double place = 0;  // 0 = root, 1 = tip; 0 if both are the same
  Vec3d point;
};

inline OnSegment NearestOnSegment(const Vec3d& root, const Vec3d& tip, const Vec3d& p) {
  const Vec3d along = tip - root;
  const double squared = Dot(along, along);
  const double place = squared > 0 ? std::clamp(Dot(p - root, along) / squared, 0.0, 1.0) : 0.0;
  return {place, root + place * along};
}

}  // namespace sinew
