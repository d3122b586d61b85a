// joint_chain.h - a skeleton laid out by joint positions and axes, and its poses as model matrices.
#pragma once

#include <Eigen/Geometry>
#include <cstdint>
#include <string>
#include <vector>

#include "sinew/rig_data.h"

namespace sinew::client {

struct ChainJoint {
  std::string name;
  std::int32_t parent = -1;
  Eigen::Affine3d rest;  // joint to model
};

// Adds the joints to the rig, with rest_local, and to the skin, with their inverse rest matrices.
void AddJoints(const std::vector<ChainJoint>& joints, RigData& rig, Skin& skin);

// Appends one frame to the clip: every joint turned by `local[j]` in its own rest frame.
void AppendFrame(const std::vector<ChainJoint>& joints,
                 const std::vector<Eigen::Quaterniond>& local, ClipData& clip);

// A frame at `origin` whose y axis points along `y` and whose z axis is as close as possible to
// `z`.
Eigen::Affine3d Frame(const Eigen::Vector3d& origin, const Eigen::Vector3d& y,
                      const Eigen::Vector3d& z);

}  // namespace sinew::client
