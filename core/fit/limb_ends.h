// limb_ends.h - joints at the ends of limbs, and those of symmetric bodies.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/base/types.h"
#include "core/base/vectors.h"
#include "core/fit/body.h"
#include "core/fit/skeleton_template.h"

namespace sinew::fit {

// Moves joints without children along their bones to where the limb begins to end, as far as it is
// thick there, and marks them in `fixed`. Those that are fixed already or outside of the body stay.
void MoveToEnds(const Body& body, const SkeletonTemplate& skeleton, std::span<Vec3d> places,
                std::span<std::uint8_t> fixed);

// A plane with normal `side` at `offset` along it.
struct Mirror {
  Vec3d side;
  double offset = 0;
  Vec3d operator()(const Vec3d& p) const { return p - 2 * (Dot(p, side) - offset) * side; }
};

// The plane across which the body equals its mirror image, nearly and except for a small part of
// it, if there is one: with the normal `side`, or one near `leaning` if that is better by far.
std::optional<Mirror> FindMirror(const Body& body, const Vec3d& side, const Vec3d& leaning);

// The direction to the left of a body that leans by 30 degrees at most, from the joints of its
// pairs; `side`, which is that of one that stands upright, if they tell another.
Vec3d SideOf(const SkeletonTemplate& skeleton, std::span<const Vec3d> places, const Vec3d& side);

// Makes joints and their partners mirror images, and puts those that are midway between the pairs
// of the template onto the plane. Fixed joints and their partners stay. So do both limbs of a pair,
// and joints below one that stays, if the body differs from its mirror image at one of their
// joints, or is thinner in the middle of the two. Limbs also stay if two joints are far from being
// mirror images where the body is the same, since one of them is in a wrong place; returns the
// later of such two.
std::vector<std::uint32_t> MakeSymmetric(const Body& body, const SkeletonTemplate& skeleton,
                                         const Mirror& mirror, std::span<const std::uint8_t> fixed,
                                         std::span<Vec3d> places);

}  // namespace sinew::fit
