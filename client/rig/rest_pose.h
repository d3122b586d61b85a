// rest_pose.h - where a rig's mesh and joints are at rest, from the rig data alone.
#pragma once

#include <vector>

#include "sinew/rig_data.h"

namespace sinew::cli {

// [V * 3] the mesh in model space as the joints' rest pose shows it, blended linearly: other than
// bind space where joints do not rest where they were bound. A vertex that no joint carries stands
// in bind space.
std::vector<float> RestPositions(const client::RigData& rig);

// [J * 12] joint to model at rest.
std::vector<float> RestJoints(const client::RigData& rig);

}  // namespace sinew::cli
