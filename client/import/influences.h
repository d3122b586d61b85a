// influences.h - collects the weights of a mesh, vertex by vertex, checked and merged.
#pragma once

#include <absl/status/status.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "sinew/import.h"
#include "sinew/rig_data.h"

namespace sinew::client {

struct Influence {
  std::uint32_t joint = 0;  // into Skin::joints
  double weight = 0;
};

// Weights below 0, which exporters leave behind: they count as 0 down to -1e-3.
class NegativeWeights {
 public:
  // Takes note of a weight. kInvalidArgument, with the vertex: below -1e-3, or not finite.
  absl::Status Add(double weight, std::size_t vertex);

  // A warning if there were some.
  void Report(const std::string& mesh, std::vector<Problem>& problems) const;

 private:
  std::size_t count_ = 0;
  double lowest_ = 0;
};

// Gives each vertex v the influences that vertex sources[v] had.
void SelectInfluences(std::span<const std::uint32_t> sources, Skin& skin);

// The reason of the warning of vertices whose weights are NaN.
inline constexpr char kNanWeightsReason[] = "NAN_WEIGHTS";

class InfluenceCollector {
 public:
  // `skin.joints` must be complete; `mesh` names the mesh in messages.
  InfluenceCollector(std::string mesh, Skin& skin);

  // Appends one vertex. Influences of weight 0 are dropped, those of one joint added up; order of
  // first appearance. Weights are divided by their sum, unless that is 1 but for the rounding of
  // float32 (1e-6). Negative weights count as 0, see NegativeWeights. A vertex without weights
  // other than 0 and NaN has none: exporters write NaN where they divide weights by a sum of 0.
  // kInvalidArgument: joint out of range, other non-finite weights, one below -1e-3. `vertex` names
  // it.
  absl::Status Add(std::span<const Influence> influences, std::size_t vertex);

  // Reports what was changed. Vertices without weights are left to BindUnweighted.
  void Report(std::vector<Problem>& problems) const;

 private:
  std::string mesh_;
  Skin& skin_;
  std::vector<Influence> merged_;
  NegativeWeights negative_;
  std::size_t normalised_ = 0, merged_vertices_ = 0, nan_vertices_ = 0;
  double lowest_sum_ = 1, highest_sum_ = 1;
};

}  // namespace sinew::client
