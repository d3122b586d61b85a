// limb_ends.h - joints at the ends of limbs, and those of symmetric bodies.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/types.h"
#include "core/fit/body.h"
#include "core/fit/skeleton_template.h"

namespace sinew::fit {

// Moves joints without children along their bones to where the limb begins to end, as far as it is
// thick there, and marks them in `fixed`. Those that are fixed already or outside of the body stay.
void MoveToEnds(const Body& body, const SkeletonTemplate& skeleton, std::span<Vec3d> places,
                std::span<std::uint8_t> fixed);

// Whether the body equals its mirror image across the plane through its centre with normal `side`,
// nearly.
bool IsSymmetric(const Body& body, const Vec3d& side);

// Makes joints and their partners mirror images, and puts those that are midway between the pairs
// of the template onto the plane. Fixed joints and their partners stay, and so do two that are far
// from being mirror images, since one of them is in a wrong place; returns the later of such two.
std::vector<std::uint32_t> MakeSymmetric(const SkeletonTemplate& skeleton, const Vec3d& side,
                                         std::span<const std::uint8_t> fixed,
                                         std::span<Vec3d> places);

}  // namespace sinew::fit
