// part_sides.h - closes a part's field beside its bone, where the skin goes on into other limbs.
#pragma once

#include <cstddef>
#include <span>

#include "core/base/types.h"
#include "core/deform/implicit/field/constraints.h"
#include "core/deform/implicit/field/limb_bones.h"
#include "core/deform/implicit/field/limb_surface.h"
#include "core/deform/implicit/field/poisson_disk.h"
#include "core/parallel/task.h"

namespace sinew {

inline constexpr std::size_t kSideRing = 8, kMaxRings = 3;
inline constexpr std::size_t kMaxSides = kSideRing * (2 * kMaxRings - 1);

// A bone of a palm has skin above and below it, but none to its sides, where its neighbours begin:
// what a fit makes of that lies far inside of them, and would lift their skin as soon as they move.
// Wherever a ring of directions around the bone meets no skin of its own, the field ends where its
// skin does.
//   skin  drawn from the part's own, model space
// Some 40 rays through the part's triangles; returns early once the task is cancelled.
void AddSides(const LimbSurface& surface, const LimbBone& bone, std::span<const SurfaceSample> skin,
              const Vec3d& centre, Constraints& constraints, const Task& task);

}  // namespace sinew
