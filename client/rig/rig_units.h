// rig_units.h - a mesh and a skeleton of one rig that most likely stand in different units.
#pragma once

#include <array>
#include <string>

#include "sinew/rig_data.h"

namespace sinew::cli {

using Bounds = std::array<double, 6>;  // min xyz, max xyz

// Of joint origins at rest, in model space; inside out without joints.
Bounds JointBounds(const client::RigData& rig);
Bounds MeshBounds(const client::RigData& rig);

// Why a mesh in one box can hardly belong to a skeleton in the other: both sizes, and the factor
// that most likely lies between their units. Empty: nothing is wrong, or a box has no size.
std::string SuspiciousUnits(const Bounds& mesh, const Bounds& skeleton);

// The same of a rig without skin; of one that is bound, bind matrices tell where its joints stand
// in the mesh, and it is empty.
std::string SuspiciousUnits(const client::RigData& rig);

}  // namespace sinew::cli
