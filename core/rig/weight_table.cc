#include "core/rig/weight_table.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "core/base/status.h"

namespace sinew {
namespace {

constexpr std::size_t kGrain = 1024;  // blocks; a few milliseconds of work

// Packs the `most` strongest weights of each row, 0 = all.
absl::StatusOr<WeightTable> Pack(const Influences& influences, const BlockLayout& layout,
                                 std::size_t most, BlockJoints joints, const Task& task) {
  WeightTable table;
  table.joints = std::move(joints);
  table.weights.resize(table.joints.pairs() * kLanes);
  task.For(layout.blocks(), kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin * kLanes; i < end * kLanes; ++i) {
      const std::uint32_t v = layout.Vertex(i);
      const auto bindings = influences.bindings(v, most);
      const auto weights = influences.weights(v, most);
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

}  // namespace

absl::StatusOr<WeightTable> WeightTable::Create(const Rig& rig, const BlockLayout& layout,
                                                std::uint32_t max_influences, const Task& task) {
  const Influences& influences = rig.influences();
  if (max_influences == 0 || influences.max_per_vertex() <= max_influences) {
    return Pack(influences, layout, 0, layout.skin, task);
  }
  SINEW_RETURN_IF_ERROR(task.CheckCancelled());
  return Pack(influences, layout, max_influences,
              UniteInfluences(layout, influences, max_influences), task);
}

absl::StatusOr<WeightTable> WeightTable::CreateOwn(const Rig& rig, const BlockLayout& layout,
                                                   const Task& task) {
  return Pack(rig.own_influences(), layout, 0, UniteInfluences(layout, rig.own_influences()), task);
}

std::size_t WeightTable::CostBytes(const Rig& rig, const BlockLayout& layout) {
  std::size_t pairs = layout.skin.pairs();
  if (&rig.own_influences() != &rig.influences()) {
    pairs = std::max(pairs, UniteInfluences(layout, rig.own_influences()).pairs());
  }
  return pairs * (kLanes * sizeof(float) + sizeof(std::uint16_t)) +
         layout.skin.offset.size() * sizeof(std::uint32_t);
}

}  // namespace sinew
