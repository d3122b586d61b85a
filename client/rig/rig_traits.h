// rig_traits.h - what a rig holds, counted.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "sinew/rig_data.h"

namespace sinew::client {

using Bounds = std::array<double, 6>;  // min xyz, max xyz

struct MeshTraits {
  std::string name;
  std::size_t vertices = 0, faces = 0, triangles = 0;
  std::size_t skin_joints = 0;
  std::size_t max_influences = 0;  // of a vertex, as ReadInfluences counts them
  std::size_t over_four = 0;       // vertices with more influences than that
  std::size_t morphs = 0;          // sculpts, in-betweens counted
};

struct RigTraits {
  std::vector<MeshTraits> meshes;
  std::vector<std::size_t> joints_without_weights;  // indices
  Bounds bounds{};                                  // of all meshes, rig units
};

// Never fails: arrays that do not agree are counted as far as they go. Cost O(size of the rig).
RigTraits CountRig(const client::RigData& rig);

}  // namespace sinew::client
