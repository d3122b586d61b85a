// stray_points.h - points that left another limb by its side.
//
// Skin that lies in another limb leaves it along that limb's gradient, and stops where its own limb
// is met. At the ends of a deep crease that way leads through the other limb's side: the skin would
// come to lie on it, turned over, as a lip. Such points go from where they were skinned to where
// both limbs are equal instead.
#pragma once

#include <cstdint>
#include <span>

#include "core/deform/implicit/field/posed_field.h"
#include "core/deform/implicit/surface/skin_surface.h"

namespace sinew {

struct StrayPoint {
  std::uint32_t point = 0;
  Vec3f at;
  float farthest = 0;  // it may go
  bool found = false;
};

// Of points that arrived at their levels, at most kLanes: whether another part is the largest where
// they are, and their own falls short of the level.
void FindStrays(const SkinSurface& skin, const PosedField& field, std::span<StrayPoint> points);

// Moves points, at most kLanes, to where their own part and the largest other are equal. Found: if
// there is such a place near enough, and it is not outside of both.
//   longest         of a step
//   least_gradient  below it there is none
void ReturnStrays(const SkinSurface& skin, const PosedField& field, float longest,
                  float least_gradient, std::span<StrayPoint> points);

}  // namespace sinew
