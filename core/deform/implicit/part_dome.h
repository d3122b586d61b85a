// part_dome.h - end caps: close a part's field where the limb continues in other parts.
#pragma once

#include <cstddef>

#include "core/base/types.h"
#include "core/deform/implicit/constraints.h"
#include "core/deform/implicit/limb_bones.h"
#include "core/deform/implicit/limb_surface.h"
#include "core/parallel/task.h"

namespace sinew {

// An end cap has a top point, a ring and a section, the latter two with kDomeRing directions around
// the bone.
inline constexpr std::size_t kDomeRing = 8, kMaxDome = 1 + 2 * kDomeRing;

enum class BoneEnd { kRoot, kTip };

// Adds an end cap at an end of the bone, unless the part's own skin closes it there.
//
// - Where the part's own skin does not reach the end plane, its section there follows the skin of
//   other parts. Both parts of a joint then meet in the skin, without a notch between them that
//   vertices would carry into a bend. Where the skin continues to the side (a palm beside a finger,
//   a torso beside an arm), the section is as thick as the limb's end.
// - Top and ring lie on the largest ball about the joint that fits into the skin. A joint may
//   rotate in any direction, and anything outside that ball would stick out of the skin.
//
// Casts about 70 rays through the triangles near the end. Returns early once the task is cancelled.
void AddDome(const LimbSurface& surface, const LimbBone& bone, const Vec3d& centre, BoneEnd end,
             Constraints& constraints, const Task& task);

}  // namespace sinew
