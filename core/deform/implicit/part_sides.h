// part_sides.h - side constraints: close a part's field beside its bone, where the skin continues
// in other limbs.
#pragma once

#include <cstddef>
#include <span>

#include "core/base/types.h"
#include "core/deform/implicit/constraints.h"
#include "core/deform/implicit/limb_bones.h"
#include "core/deform/implicit/limb_surface.h"
#include "core/deform/implicit/spread_samples.h"
#include "core/parallel/task.h"

namespace sinew {

inline constexpr std::size_t kSideRing = 8, kMaxRings = 3;
inline constexpr std::size_t kMaxSides = kSideRing * (2 * kMaxRings - 1);

// A bone of a palm has skin above and below, but none at its sides, where its neighbours begin.
// Unconstrained, the fit would extend far into them and lift their skin as soon as they move.
// Wherever a ring of directions around the bone meets no skin of the part, the field is closed at
// the extent of its skin.
//
//    skin  drawn from the part's own, model space
//
// Casts about 40 rays through the part's triangles. Returns early once the task is cancelled.
void AddSides(const LimbSurface& surface, const LimbBone& bone, std::span<const SurfaceSample> skin,
              const Vec3d& centre, Constraints& constraints, const Task& task);

}  // namespace sinew
