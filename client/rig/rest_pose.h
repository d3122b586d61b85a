// rest_pose.h - where a rig's mesh and joints are at rest, from the rig data alone.
#pragma once

#include <vector>

#include "sinew/rig_data.h"

namespace sinew::cli {

// [V * 3] the mesh in model space in the rest pose, by linear blending. Differs from bind space if
// the rest pose differs from the bind pose. Vertices without influences stay in bind space.
std::vector<float> RestPositions(const client::RigData& rig);

// [J * 12] joint to model at rest.
std::vector<float> RestJoints(const client::RigData& rig);

}  // namespace sinew::cli
