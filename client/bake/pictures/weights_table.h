// weights_table.h - how a rig's weights are spread over its joints.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "client/rig/vertex_influences.h"
#include "sinew/rig_data.h"

namespace sinew::bake {

struct JointShare {
  std::size_t joint = 0;     // of the rig
  std::size_t vertices = 0;  // with some of its weight
  double sum = 0;            // of its weights
  double share = 0;          // of all weight of the rig, 0 to 1
  float largest = 0;         // weight of one vertex
};

// [joints] in rig order, those that carry nothing too.
std::vector<JointShare> JointShares(const client::RigInfluences& influences, std::size_t joints);
std::vector<JointShare> JointShares(const client::RigData& rig);

// Mean over vertices and joints with weight in one of the rigs of |a - b|; and the mean part of a
// vertex's weight that lies elsewhere, 0 to 1. None: vertices or joints differ, or one has no
// weights.
struct WeightDifference {
  double mean_absolute = 0, moved = 0;
};
std::optional<WeightDifference> CompareWeights(const client::RigData& a, const client::RigData& b);

}  // namespace sinew::bake
