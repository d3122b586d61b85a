// part_dome.h - closes a part's field where the limb goes on into other parts.
#pragma once

#include <cstddef>

#include "core/base/types.h"
#include "core/deform/implicit/field/constraints.h"
#include "core/deform/implicit/field/limb_bones.h"
#include "core/deform/implicit/field/limb_surface.h"
#include "core/parallel/task.h"

namespace sinew {

// A dome has a top, a ring and a section, of so many directions around the bone.
inline constexpr std::size_t kDomeRing = 8, kMaxDome = 1 + 2 * kDomeRing;

enum class BoneEnd { kRoot, kTip };

// Adds a dome at an end of the bone, unless the part's own skin closes it there.
//   - Where the part's own skin does not reach the end, its section in the plane there is that of
//   the skin of
//     other parts: so both parts of a joint meet in the skin, and do not leave a notch between them
//     that vertices would carry into a bend. Where the skin goes on to the side (a palm beside a
//     finger, a body beside an arm), the limb is closed there as thick as the end is.
//   - Beyond, top and ring lie on the ball about the joint that the skin has room for: a joint may
//     turn any way, and what stands out of that ball would stand out of the skin.
// Some 70 rays through all triangles near the end; returns early once the task is cancelled.
void AddDome(const LimbSurface& surface, const LimbBone& bone, const Vec3d& centre, BoneEnd end,
             Constraints& constraints, const Task& task);

}  // namespace sinew
