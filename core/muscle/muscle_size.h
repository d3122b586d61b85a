// muscle_size.h - muscles beside the mesh they lie in.
#pragma once

#include <absl/status/status.h>

#include <span>
#include <vector>

#include "core/base/problem.h"
#include "core/muscle/muscle.h"
#include "core/muscle/posed_muscle.h"

namespace sinew {

class Rig;

// Refuses muscles that cannot be meant for the mesh: no two of its points lie further apart than
// `diagonal`, that of its bounding box at rest, so a semi-axis of a belly, a fat layer or a wrap's
// radius beyond it reaches past the whole character from wherever it lies. 0, a mesh of one point,
// says nothing. `tables` are those of `muscles`. kInvalidArgument names the field as CheckMuscles.
absl::Status CheckMuscleSizes(std::span<const Muscle> muscles, const MuscleTables& tables,
                              double diagonal);

// Warnings of muscles ("muscles[3]") that are most likely not what they are meant to be. In the
// pose the mesh was modelled in, their path or their belly, slack, leaves its bounding box by more
// than a twentieth of the diagonal; or the belly is a thread, thinner than 1/300 of each bone that
// its points belong to, as where lengths are in another unit. None of a rig whose meshes are kept
// in spaces of their own, which have no box together. O(joints + points of muscles).
std::vector<Problem> SuspiciousMuscles(const Rig& rig);

}  // namespace sinew
