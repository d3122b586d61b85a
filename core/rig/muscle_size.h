// muscle_size.h - muscles beside the mesh they lie in.
#pragma once

#include <absl/status/status.h>

#include <span>

#include "core/rig/muscle.h"
#include "core/rig/posed_muscle.h"

namespace sinew {

// Refuses muscles that cannot be meant for the mesh: no two of its points lie further apart than
// `diagonal`, that of its bounding box at rest, so a semi-axis of a belly, a fat layer or a wrap's
// radius beyond it reaches past the whole character from wherever it lies. 0, a mesh of one point,
// says nothing. `tables` are those of `muscles`. kInvalidArgument names the field as CheckMuscles.
absl::Status CheckMuscleSizes(std::span<const Muscle> muscles, const MuscleTables& tables,
                              double diagonal);

}  // namespace sinew
