// vertex_influences.h - the skin weights of a rig, sparse, all meshes on one vertex numbering.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sinew/rig_data.h"

namespace sinew::client {

struct JointWeight {
  std::uint32_t joint = 0;  // of the rig
  float weight = 0;         // not 0
  bool operator==(const JointWeight&) const = default;
};

struct RigInfluences {
  std::vector<std::size_t> first{0};  // [V + 1] into entries
  std::vector<JointWeight> entries;   // a vertex's joints rising, each once

  std::size_t vertices() const { return first.size() - 1; }
  std::span<const JointWeight> Of(std::size_t vertex) const {
    return std::span(entries).subspan(first[vertex], first[vertex + 1] - first[vertex]);
  }
};

// Arrays of a skin that do not agree count as far as they go. A vertex whose weights add up to 0 is
// carried by the fallback joint of its skin, if there is one.
RigInfluences ReadInfluences(const client::RigData& rig);

// [V] what one joint carries.
std::vector<float> WeightsOf(const RigInfluences& influences, std::size_t joint);

}  // namespace sinew::client
