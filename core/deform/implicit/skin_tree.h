// skin_tree.h - the triangles that a ray may meet.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/base/types.h"

namespace sinew {

using Corners = std::array<std::uint32_t, 3>;  // vertices of a triangle

// Balls about runs of eight triangles in the order of the file, and about runs of eight balls.
// Neighbours in a file are mostly neighbours on the skin. Immutable; shared by threads.
class SkinTree {
 public:
  SkinTree() = default;
  SkinTree(std::span<const Vec3d> points, std::span<const Corners> triangles);

  // Calls visit(triangle), in rising order, for all triangles whose ball the ray from `from` along
  // a unit vector meets no farther than `farthest`, which visit may lower. A triangle is visited
  // also where the ray passes beside it by less than a hundredth of its ball's radius.
  template <class Visit>
  void VisitAlong(const Vec3d& from, const Vec3d& along, const double& farthest,
                  Visit visit) const {
    if (!levels_.empty()) {
      Descend(levels_.size() - 1, 0, levels_.back().size(), from, along, farthest, visit);
    }
  }
  // Bytes for so many triangles.
  static std::size_t Bytes(std::size_t triangles) { return triangles * 10 + 1024; }

 private:
  static constexpr std::size_t kRun = 8;
  struct Ball {
    Vec3d centre;
    double radius;
  };

  template <class Visit>
  void Descend(std::size_t level, std::size_t begin, std::size_t end, const Vec3d& from,
               const Vec3d& along, const double& farthest, Visit& visit) const {
    for (std::size_t i = begin; i < end; ++i) {
      const Ball& ball = levels_[level][i];
      const Vec3d d = ball.centre - from;
      const double at = Dot(d, along);
      if (Dot(d, d) - at * at > ball.radius * ball.radius || at < -ball.radius ||
          at - ball.radius > farthest) {
        continue;
      }
      const std::size_t first = kRun * i;
      if (level > 0) {
        Descend(level - 1, first, std::min(first + kRun, levels_[level - 1].size()), from, along,
                farthest, visit);
        continue;
      }
      for (std::size_t t = first; t < std::min(first + kRun, triangles_); ++t) {
        visit(static_cast<std::uint32_t>(t));
      }
    }
  }

  std::size_t triangles_ = 0;
  std::vector<std::vector<Ball>> levels_;  // from the triangles up
};

}  // namespace sinew
