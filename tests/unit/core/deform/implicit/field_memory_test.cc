// Actual allocations of binding a field, against the estimate.
#include <gtest/gtest.h>

#include "core/deform/implicit/field.h"
#include "core/deform/method/fields.h"
#include "tests/support/allocation_meter.h"
#include "tests/support/small_rigs.h"
#include "tests/support/tube.h"

namespace sinew {
namespace {

void ExpectWithinCost(const Rig& rig, std::uint32_t samples) {
  const std::size_t peak = testing::PeakOf([&] {
    Task task;
    const auto field = LimbField::Bind(rig, Weld(rig), samples, task);
    ASSERT_TRUE(field.ok());
    EXPECT_LE(FieldBytes(*field), LimbField::CostBytes(rig, samples));
  });
  EXPECT_LE(peak, LimbField::CostBytes(rig, samples)) << samples << " samples";
}

TEST(FieldMemory, PeakWithinEstimate) {
  for (const auto& [name, rig] : testing::AllRigs()) {
    SCOPED_TRACE(name);
    for (const std::uint32_t samples : {8u, 50u}) ExpectWithinCost(rig, samples);
  }
  ExpectWithinCost(testing::TubeRig({.rings = 31}), 400);
  ExpectWithinCost(testing::TubeRig({.rings = 601, .around = 64, .joints = 20, .length = 40}), 50);
}

TEST(FieldMemory, RespectsMemoryLimit) {
  const Rig rig = testing::TubeRig();
  Task task({.memory_limit = LimbField::CostBytes(rig, 50) - 1});
  EXPECT_EQ(LimbField::Bind(rig, Weld(rig), 50, task).status().code(),
            absl::StatusCode::kResourceExhausted);
}

}  // namespace
}  // namespace sinew
