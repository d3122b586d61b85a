// joint_chain.h - a chain of joints, straight along +Y at rest, and its poses as model matrices.
#pragma once

#include <Eigen/Geometry>
#include <string>
#include <vector>

#include "sinew/rig_data.h"

namespace sinew::client {

// The child of the joint before it, with the axes of the model at rest.
struct ChainJoint {
  std::string name;
  double y = 0;  // of its origin at rest
};

// Adds the joints to the rig, with rest_local, and to the skin, with their inverse rest matrices.
void AddJoints(const std::vector<ChainJoint>& joints, RigData& rig, Skin& skin);

// Appends one frame to the clip: every joint turned by `local[j]` in its own rest frame.
void AppendFrame(const std::vector<ChainJoint>& joints,
                 const std::vector<Eigen::Quaterniond>& local, ClipData& clip);

}  // namespace sinew::client
