// point_block.h - points, and samples of a scalar field at them, in blocks of 16 lanes.
#pragma once

#include <cstddef>

#include "core/base/types.h"

namespace sinew {

inline constexpr std::size_t kLanes = 16;

// 16 points, one per lane.
struct alignas(64) PointBlock {
  float x[kLanes], y[kLanes], z[kLanes];

  Vec3f At(std::size_t lane) const { return {x[lane], y[lane], z[lane]}; }
  void Set(std::size_t lane, const Vec3f& p) {
    x[lane] = p.x;
    y[lane] = p.y;
    z[lane] = p.z;
  }
};

// The points at(i), i < count <= 16; further lanes repeat the last one.
template <class At>
PointBlock BlockOf(std::size_t count, At at) {
  PointBlock block;
  for (std::size_t i = 0; i < kLanes; ++i) block.Set(i, at(i < count ? i : count - 1));
  return block;
}

// A field's value and gradient at 16 points.
struct alignas(64) FieldBlock {
  float value[kLanes], x[kLanes], y[kLanes], z[kLanes];
};

}  // namespace sinew
