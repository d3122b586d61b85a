// rig_units.h - detects a mesh, a skeleton or a clip in different units.
#pragma once

#include <string>

#include "client/rig/rig_traits.h"
#include "sinew/rig_data.h"

namespace sinew::client {

// Bounds of joint origins at rest, in model space; empty (minimum above maximum) without joints.
Bounds JointBounds(const client::RigData& rig);

// A warning if the sizes of the two boxes suggest different units: both sizes, and the likely
// factor between the units. Empty: the sizes match, or a box has no size.
std::string SuspiciousUnits(const Bounds& mesh, const Bounds& skeleton);

// A warning if the clip's first, middle and last pose are all far larger or far smaller than the
// rest pose, by linear blending. Empty: they are not. Also empty for a clip that hides the
// character.
std::string SuspiciousSize(const client::RigData& rig, const client::ClipData& clip);

// That warning for the mesh and joints of a rig without skin. Empty for a rig with skin, whose
// bind matrices place its joints in the mesh.
std::string SuspiciousUnits(const client::RigData& rig);

}  // namespace sinew::client
