// weight_picture.h - skin weights as colours, one panel per joint, from the rig data alone.
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <string>
#include <vector>

#include "client/cli/posed_picture.h"
#include "sinew/rig_data.h"

namespace sinew::cli {

inline constexpr std::size_t kMostWeightPanels = 24;

// What one joint carries.
struct JointWeights {
  std::size_t joint = 0;
  std::string name;
  std::vector<float> weights{};  // [V] all meshes, rig order
  std::uint64_t vertices = 0;    // with a weight above 0
  double sum = 0;
  float largest = 0;
};

// The joint called `which`, or with "all" those that carry most, kMostWeightPanels of them at most,
// in rig order. `carrying`: how many joints carry anything. Arrays of a skin that do not agree
// count as far as they go. Messages begin with `option`. kNotFound: no joint of that name.
// kInvalidArgument: "all", and no joint carries a vertex.
struct RigWeights {
  std::vector<JointWeights> joints;
  std::size_t carrying = 0;
};
absl::StatusOr<RigWeights> ReadWeights(const client::RigData& rig, const std::string& option,
                                       const std::string& which);

// A panel for each, the rest mesh coloured from 0 to 1 by weight, and the legend.
std::vector<PosedPanel> WeightPanels(const client::RigData& rig, const RigWeights& weights,
                                     PictureOptions& options);

// [V * 3] the rest mesh in model space as the joints' rest pose has it without any skinning: mesh
// positions under their geometry bind.
std::vector<float> RestPositions(const client::RigData& rig);

// [J * 12] joint to model at rest.
std::vector<float> RestJoints(const client::RigData& rig);

}  // namespace sinew::cli
