#include "core/rig/weight_table.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "core/base/status.h"

namespace sinew {
namespace {

constexpr std::size_t kGrain = 1024;  // blocks; a few milliseconds of work

std::size_t Kept(const Influences& influences, std::size_t v, std::size_t most) {
  const std::size_t count = influences.bindings(v).size();
  return most == 0 ? count : std::min(count, most);
}

// Packs the `most` strongest weights of each row, 0 = all.
absl::StatusOr<WeightTable> Pack(const Influences& influences, const BlockLayout& layout,
                                 std::size_t most, BlockJoints joints, const Task& task) {
  WeightTable table;
  table.joints = std::move(joints);
  table.weights.resize(table.joints.pairs() * kLanes);
  task.For(layout.blocks(), kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin * kLanes; i < end * kLanes; ++i) {
      const std::uint32_t v = layout.Vertex(i);
      const std::size_t count = Kept(influences, v, most);
      const auto bindings = influences.bindings(v).first(count);
      const auto weights = influences.weights(v).first(count);
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

BlockJoints OwnJoints(const Rig& rig, const BlockLayout& layout) {
  const Influences& own = rig.own_influences();
  return UniteRows(layout, own.offsets(), own.all_bindings());
}

}  // namespace

absl::StatusOr<WeightTable> WeightTable::Create(const Rig& rig, const BlockLayout& layout,
                                                std::uint32_t max_influences, const Task& task) {
  const Influences& influences = rig.influences();
  if (max_influences == 0 || influences.max_per_vertex() <= max_influences) {
    return Pack(influences, layout, 0, layout.skin, task);
  }
  SINEW_RETURN_IF_ERROR(task.CheckCancelled());
  std::vector<std::uint64_t> offsets = {0};
  std::vector<std::uint16_t> bindings;
  for (std::size_t v = 0; v < influences.vertices(); ++v) {
    const auto row = influences.bindings(v).first(Kept(influences, v, max_influences));
    bindings.insert(bindings.end(), row.begin(), row.end());
    offsets.push_back(bindings.size());
  }
  return Pack(influences, layout, max_influences, UniteRows(layout, offsets, bindings), task);
}

absl::StatusOr<WeightTable> WeightTable::CreateOwn(const Rig& rig, const BlockLayout& layout,
                                                   const Task& task) {
  return Pack(rig.own_influences(), layout, 0, OwnJoints(rig, layout), task);
}

std::size_t WeightTable::CostBytes(const Rig& rig, const BlockLayout& layout) {
  std::size_t pairs = layout.skin.pairs();
  if (&rig.own_influences() != &rig.influences()) {
    pairs = std::max(pairs, OwnJoints(rig, layout).pairs());
  }
  return pairs * (kLanes * sizeof(float) + sizeof(std::uint16_t)) +
         layout.skin.offset.size() * sizeof(std::uint32_t);
}

}  // namespace sinew
