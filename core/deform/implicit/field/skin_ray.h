// skin_ray.h - looks for the skin around a bone.
#pragma once

#include <cmath>
#include <cstdint>
#include <span>

#include "core/base/types.h"
#include "core/deform/implicit/field/limb_surface.h"

namespace sinew {

// The skin nearest along a ray.
struct SkinHit {
  double distance = INFINITY;  // none
  Vec3d normal;                // unit, of the vertices
};

// Of these triangles; edges count. Unit direction.
SkinHit SkinAlong(const LimbSurface& surface, std::span<const std::uint32_t> triangles,
                  const Vec3d& from, const Vec3d& direction);

// Unit directions around an axis.
struct AxesAround {
  explicit AxesAround(const Vec3d& axis);  // unit

  Vec3d Side(double angle) const { return std::cos(angle) * u + std::sin(angle) * v; }

  Vec3d along, u, v;
};

}  // namespace sinew
