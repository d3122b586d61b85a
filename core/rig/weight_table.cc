#include "core/rig/weight_table.h"

#include <algorithm>
#include <cmath>

#include "core/base/status.h"

namespace sinew {
namespace {

constexpr std::size_t kGrain = 1024;  // blocks; a few milliseconds of work

}  // namespace

absl::StatusOr<WeightTable> WeightTable::Create(const Rig& rig, const BlockLayout& layout,
                                                std::uint32_t max_influences, const Task& task) {
  const Influences& influences = rig.influences();
  const auto kept = [&](std::size_t v) {
    const std::size_t count = influences.bindings(v).size();
    return max_influences == 0 ? count : std::min<std::size_t>(count, max_influences);
  };
  WeightTable table;
  if (max_influences == 0 || influences.max_per_vertex() <= max_influences) {
    table.joints = layout.skin;
  } else {
    SINEW_RETURN_IF_ERROR(task.CheckCancelled());
    std::vector<std::uint64_t> offsets = {0};
    std::vector<std::uint16_t> bindings;
    for (std::size_t v = 0; v < influences.vertices(); ++v) {
      const auto row = influences.bindings(v).first(kept(v));
      bindings.insert(bindings.end(), row.begin(), row.end());
      offsets.push_back(bindings.size());
    }
    table.joints = UniteRows(layout, offsets, bindings);
  }
  table.weights.resize(table.joints.pairs() * kLanes);
  task.For(layout.blocks(), kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin * kLanes; i < end * kLanes; ++i) {
      const std::uint32_t v = layout.Vertex(i);
      const auto bindings = influences.bindings(v).first(kept(v));
      const auto weights = influences.weights(v).first(kept(v));
      double sum = 0;
      for (const double weight : weights) sum += weight;
      for (std::size_t k = 0; k < bindings.size(); ++k) {
        const std::size_t pair = FindPair(table.joints, i / kLanes, bindings[k]);
        table.weights[pair * kLanes + i % kLanes] = static_cast<float>(weights[k] / sum);
      }
    }
  });
  SINEW_RETURN_IF_ERROR(task.CheckCancelled());
  return table;
}

std::size_t WeightTable::CostBytes(const Rig&, const BlockLayout& layout) {
  return layout.skin.pairs() * (kLanes * sizeof(float) + sizeof(std::uint16_t)) +
         layout.skin.offset.size() * sizeof(std::uint32_t);
}

}  // namespace sinew
