// skin_ray.h - ray queries against the skin around a bone.
#pragma once

#include <cmath>
#include <cstdint>
#include <span>

#include "core/base/types.h"
#include "core/deform/implicit/limb_surface.h"

namespace sinew {

// The nearest skin along a ray.
struct SkinHit {
  double distance = INFINITY;  // none
  Vec3d normal;                // interpolated unit vertex normal
};

// Nearest hit among `triangles`, edges included. `direction` must be a unit vector.
SkinHit SkinAlong(const LimbSurface& surface, std::span<const std::uint32_t> triangles,
                  const Vec3d& from, const Vec3d& direction);

// Two unit vectors perpendicular to an axis.
struct AxesAround {
  explicit AxesAround(const Vec3d& axis);  // unit vector

  Vec3d Side(double angle) const { return std::cos(angle) * u + std::sin(angle) * v; }

  Vec3d along, u, v;
};

}  // namespace sinew
