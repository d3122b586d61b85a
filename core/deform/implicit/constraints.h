// constraints.h - points and normals that a part's field interpolates.
#pragma once

#include <algorithm>
#include <vector>

#include "core/base/vectors.h"

namespace sinew {

// Relative to the part's centre, in radii of its bone.
struct Constraints {
  std::vector<Vec3d> points, normals;  // unit normals

  void Add(const Vec3d& point, const Vec3d& normal) {
    points.push_back(point);
    normals.push_back(normal);
  }
  bool IsFree(const Vec3d& point, double distance) const {
    return std::ranges::none_of(points,
                                [&](const Vec3d& p) { return Length(p - point) < distance; });
  }
};

}  // namespace sinew
