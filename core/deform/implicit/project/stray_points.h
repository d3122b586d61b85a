// stray_points.h - wrong-side points: points that left another limb through its side.
//
// Skin inside another limb leaves it along that limb's gradient and stops where its own limb is
// met. At the ends of a deep crease that path leads through the other limb's side, and the skin
// would end up inverted on top of it, as a lip. Such points move from their skinned position to
// where both limbs' fields are equal.
#pragma once

#include <cstdint>
#include <span>

#include "core/deform/implicit/field/posed_field.h"
#include "core/deform/implicit/surface/skin_surface.h"

namespace sinew {

struct StrayPoint {
  std::uint32_t point = 0;
  Vec3f at;
  float farthest = 0;  // maximum distance of the move
  bool found = false;
};

// For at most kLanes points on their levels: whether another part is the largest at their position
// and their own falls short of the level.
void FindStrays(const SkinSurface& skin, const PosedField& field, std::span<StrayPoint> points);

// Moves at most kLanes points to where the fields of their own and the largest other part are
// equal. Found: there is such a position near enough, and it is not outside of both.
//
//    longest         limit of a step
//    least_gradient  smaller gradients count as zero
void ReturnStrays(const SkinSurface& skin, const PosedField& field, float longest,
                  float least_gradient, std::span<StrayPoint> points);

}  // namespace sinew
