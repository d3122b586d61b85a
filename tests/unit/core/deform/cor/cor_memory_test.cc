// Actual allocations of binding, against the estimate.
#include <gtest/gtest.h>

#include "core/deform/cor/cor.h"
#include "tests/support/allocation_meter.h"
#include "tests/support/small_rigs.h"
#include "tests/unit/core/deform/cor/bound_cor.h"

namespace sinew {
namespace {

using testing::TubeOptions;
using testing::TubeWeights;

// Allocations independent of the mesh: scheduler.
constexpr std::size_t kFixed = 1 << 20;

// at_least: minimum share of the estimate that binding uses.
void ExpectWithin(const Rig& rig, const CorParams& params, double at_least,
                  const std::string& name) {
  const auto layout = testing::ValueOrDie(BlockLayout::Create(rig));
  const BindInput input = {rig, *layout, RigSurface(rig, *layout)};
  const auto cost = testing::ValueOrDie(Cor::Cost(input, params));
  Task task;
  const std::size_t peak =
      testing::PeakOf([&] { EXPECT_TRUE(Cor::Bind(input, params, task).ok()); });
  EXPECT_LE(peak, cost.peak_bytes + kFixed) << name;
  EXPECT_GE(static_cast<double>(peak), at_least * static_cast<double>(cost.peak_bytes)) << name;
}

TEST(CorMemory, PeakWithinEstimate) {
  for (const testing::NamedRig& named : testing::AllRigs()) {
    ExpectWithin(named.rig, {}, 0, named.name);
  }
  const TubeOptions four = {
      .rings = 400, .around = 40, .joints = 20, .length = 20, .weights = TubeWeights::kFour};
  ExpectWithin(testing::TubeRig(four), {}, 0.5, "four");
  ExpectWithin(testing::TubeRig(four), {.max_influences = 2}, 0.5, "two of four");
  const TubeOptions small = {.rings = 30, .around = 20, .joints = 6};
  ExpectWithin(testing::MakeRig(testing::NoisyWeights(small)), {}, 0.5, "noisy");
  const TubeOptions large = {.rings = 300, .around = 30, .joints = 24};
  ExpectWithin(testing::MakeRig(testing::BroadWeights(large)), {}, 0.4, "broad");
}

}  // namespace
}  // namespace sinew
