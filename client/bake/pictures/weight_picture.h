// weight_picture.h - skin weights as colours, one panel per joint, from the rig data alone.
#pragma once

#include <absl/status/statusor.h>

#include <cstddef>
#include <string>
#include <vector>

#include "client/bake/pictures/posed_picture.h"
#include "client/bake/pictures/weights_table.h"
#include "client/rig/vertex_influences.h"
#include "sinew/rig_data.h"

namespace sinew::bake {

inline constexpr std::size_t kMaxWeightPanels = 24;

// The joint called `which`, or with "all" those that carry most, kMaxWeightPanels of them at most,
// in rig order. `carrying`: how many joints carry anything. Messages begin with `option`.
// kNotFound: no joint of that name. kInvalidArgument: "all", and no joint carries a vertex.
struct RigWeights {
  client::RigInfluences influences;
  std::vector<JointShare> joints;
  std::size_t carrying = 0;
};
absl::StatusOr<RigWeights> ReadWeights(const client::RigData& rig, const std::string& option,
                                       const std::string& which);

// A panel for each, the rest mesh coloured from 0 to 1 by weight, and the legend.
std::vector<PosedPanel> WeightPanels(const client::RigData& rig, const RigWeights& weights,
                                     PictureOptions& options);

}  // namespace sinew::bake
