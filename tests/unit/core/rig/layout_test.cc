#include "core/rig/layout.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "core/rig/weight_table.h"
#include "tests/support/small_rigs.h"
#include "tests/support/tube.h"

namespace sinew {
namespace {

TEST(BlockLayout, EveryVertexOnceAndOnePivotPerBlock) {
  for (const auto& [name, rig] : testing::AllRigs()) {
    const auto layout = *BlockLayout::Create(rig);
    std::set<std::int32_t> seen;
    for (std::size_t i = 0; i < layout->order.size(); ++i) {
      const std::int32_t v = layout->order[i];
      if (v < 0) continue;
      EXPECT_TRUE(seen.insert(v).second) << name;
      EXPECT_EQ(layout->lane[static_cast<std::size_t>(v)], i);
      EXPECT_EQ(rig.influences().bindings(static_cast<std::size_t>(v)).front(),
                layout->pivot[i / kLanes]);
    }
    EXPECT_EQ(seen.size(), rig.vertices()) << name;
    EXPECT_TRUE(layout->Check(rig.bindings().size()).ok()) << name;
  }
}

TEST(BlockLayout, UnionsStartWithPivotThenAscend) {
  const Rig rig = testing::TubeRig({.joints = 6, .weights = testing::TubeWeights::kFour});
  const auto layout = *BlockLayout::Create(rig);
  for (std::size_t b = 0; b < layout->blocks(); ++b) {
    const auto first = layout->skin.entry.begin() + layout->skin.offset[b];
    const auto last = layout->skin.entry.begin() + layout->skin.offset[b + 1];
    EXPECT_EQ(*first, layout->pivot[b]);
    EXPECT_TRUE(std::is_sorted(first + 1, last));
    EXPECT_EQ(std::count(first, last, layout->pivot[b]), 1);
  }
}

TEST(WeightTable, HoldsVertexWeightsAndZeroElsewhere) {
  const Rig rig = testing::TubeRig({.joints = 6, .weights = testing::TubeWeights::kFour});
  const auto layout = *BlockLayout::Create(rig);
  const WeightTable table = *WeightTable::Create(rig, *layout, 0, Task());
  ASSERT_TRUE(CheckFields("weights", table, layout->Sizes(rig.bindings().size())).ok());
  for (std::size_t v = 0; v < rig.vertices(); ++v) {
    const std::size_t block = layout->lane[v] / kLanes, lane = layout->lane[v] % kLanes;
    double sum = 0;
    for (std::uint32_t k = table.joints.offset[block]; k < table.joints.offset[block + 1]; ++k) {
      sum += table.weights[k * kLanes + lane];
    }
    EXPECT_NEAR(sum, 1, 1e-6);
    for (std::size_t k = 0; k < rig.influences().bindings(v).size(); ++k) {
      const std::size_t pair = FindPair(table.joints, block, rig.influences().bindings(v)[k]);
      EXPECT_FLOAT_EQ(table.weights[pair * kLanes + lane],
                      static_cast<float>(rig.influences().weights(v)[k]));
    }
  }
}

TEST(WeightTable, Cancellable) {
  const Rig rig = testing::TubeRig({.joints = 6, .weights = testing::TubeWeights::kFour});
  const auto layout = *BlockLayout::Create(rig);
  std::stop_source stop;
  stop.request_stop();
  const Task task({.stop = stop.get_token()});
  for (const std::uint32_t most : {0u, 2u}) {
    EXPECT_TRUE(absl::IsCancelled(WeightTable::Create(rig, *layout, most, task).status()));
  }
}

TEST(WeightTable, KeepsStrongestAndRenormalises) {
  const Rig rig = testing::TubeRig({.joints = 6, .weights = testing::TubeWeights::kFour});
  const auto layout = *BlockLayout::Create(rig);
  const WeightTable table = *WeightTable::Create(rig, *layout, 2, Task());
  ASSERT_TRUE(CheckFields("weights", table, layout->Sizes(rig.bindings().size())).ok());
  for (std::size_t v = 0; v < rig.vertices(); ++v) {
    const std::size_t block = layout->lane[v] / kLanes, lane = layout->lane[v] % kLanes;
    double sum = 0;
    int used = 0;
    for (std::uint32_t k = table.joints.offset[block]; k < table.joints.offset[block + 1]; ++k) {
      sum += table.weights[k * kLanes + lane];
      used += table.weights[k * kLanes + lane] > 0;
    }
    EXPECT_NEAR(sum, 1, 1e-6);
    EXPECT_LE(used, 2);
  }
}

}  // namespace
}  // namespace sinew
