// muscle_size.h - plausibility checks of muscles against their mesh.
#pragma once

#include <absl/status/status.h>

#include <span>
#include <vector>

#include "core/base/problem.h"
#include "core/muscle/muscle.h"
#include "core/muscle/posed_muscle.h"

namespace sinew {

class Rig;

// Rejects muscles whose semi-axes, fat, wrap radius or point distances exceed `diagonal`, that of
// the mesh's bounding box at rest (0: no check). `tables` are those of `muscles`. kInvalidArgument
// names the field as CheckMuscles does.
absl::Status CheckMuscleSizes(std::span<const Muscle> muscles, const MuscleTables& tables,
                              double diagonal);

// Warnings ("muscles[3]") about muscles that are probably wrong: in the bind pose the path or the
// slack belly leaves the mesh's bounding box by more than a twentieth of its diagonal, or the belly
// is thinner than 1/300 of every bone its points belong to (wrong units). None for rigs whose
// meshes have their own bind spaces. O(joints + points of muscles).
std::vector<Problem> SuspiciousMuscles(const Rig& rig);

}  // namespace sinew
