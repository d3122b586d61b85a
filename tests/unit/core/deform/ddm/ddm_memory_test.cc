// Actual allocations of binding, against the estimate.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <stop_token>
#include <string>

#include "core/deform/ddm/ddm.h"
#include "core/deform/method/fields.h"
#include "core/surface/rig_surface.h"
#include "tests/support/allocation_meter.h"
#include "tests/support/run_method.h"
#include "tests/support/small_rigs.h"
#include "tests/support/tube.h"
#include "tests/unit/core/deform/ddm/bound_ddm.h"

namespace sinew {
namespace {

struct Measured {
  std::size_t peak = 0, announced = 0;
};

Measured BindMeasured(const Rig& rig, const DdmParams& params) {
  const auto layout = testing::ValueOrDie(BlockLayout::Create(rig));
  const BindInput input = {rig, *layout, RigSurface(rig, *layout)};
  Task task;
  Measured measured;
  measured.announced = DdmTables::Cost(input, params)->peak_bytes;
  testing::StartPeak();
  const auto bound = DdmTables::Bind(input, params, {}, task);
  EXPECT_TRUE(bound.ok()) << bound.status();
  measured.peak = testing::Peak();
  return measured;
}

// Allocations independent of the mesh: scheduler, cosine tables.
constexpr std::size_t kFixed = 1 << 20;

TEST(DdmMemory, PeakWithinEstimate) {
  for (const testing::NamedRig& named : testing::AllRigs()) {
    const Measured measured = BindMeasured(named.rig, {});
    EXPECT_LE(measured.peak, measured.announced + kFixed) << named.name;
  }
  for (const testing::TubeOptions& tube :
       {testing::TubeOptions{.rings = 400,
       .around = 100,
       .joints = 20,
       .length = 20,
       .weights = testing::TubeWeights::kFour},
        {.rings = 400, .around = 100, .joints = 2},
        {.rings = 4000, .around = 10, .joints = 200, .length = 100}}) {
    const Rig rig = testing::TubeRig(tube);
    for (const Laplacian laplacian : {Laplacian::kUniform, Laplacian::kCotangent}) {
      for (const float truncation : {0.0f, 1e-3f}) {
        DdmParams params;
        params.laplacian = laplacian;
        params.truncation = truncation;
        const Measured measured = BindMeasured(rig, params);
        EXPECT_LE(measured.peak, measured.announced + kFixed) << tube.joints << " joints";
        EXPECT_GE(measured.peak, measured.announced / 6) << tube.joints << " joints";
      }
    }
  }
}

TEST(DdmMemory, EstimateCoversEveryVariant) {
  const Rig rig = testing::TubeRig({.rings = 400,
                                    .around = 50,
                                    .joints = 20,
                                    .length = 20,
                                    .weights = testing::TubeWeights::kFour});
  for (std::uint32_t variant = 0; variant < 6; ++variant) {
    DdmParams params;
    params.variant = variant;
    params.alpha = 0.5f;
    const Measured measured = BindMeasured(rig, params);
    EXPECT_LE(measured.peak, measured.announced + kFixed) << variant;
    EXPECT_GE(measured.peak, measured.announced / 6) << variant;
  }
}

TEST(DdmMemory, PredictsTableSizes) {
  for (const testing::NamedRig& named : testing::AllRigs()) {
    for (std::uint32_t variant = 0; variant < 6; ++variant) {
      for (const float alpha : {0.0f, 0.5f}) {
        DdmParams params;
        params.variant = variant;
        params.alpha = alpha;
        const testing::BoundDdm ddm(named.rig, params);
        const BindCost cost = *DdmTables::Cost(
            {named.rig, ddm.layout(), RigSurface(named.rig, ddm.layout())}, params);
        const std::size_t bytes = FieldBytes(ddm.tables()) - sizeof(DdmTables);
        EXPECT_GE(cost.bound_bytes, bytes) << named.name << " variant " << variant;
        EXPECT_LE(cost.bound_bytes, 4 * bytes) << named.name << " variant " << variant;
      }
    }
  }
}

// Every joint reaches the whole mesh: the limit is exceeded long before the walk is complete.
TEST(DdmMemory, CostStopsAtLimitAndWhenCancelled) {
  const Rig rig = testing::TubeRig({.rings = 1500, .around = 6, .joints = 1500, .length = 20});
  const auto layout = testing::ValueOrDie(BlockLayout::Create(rig));
  DdmParams params;
  params.lambda = 1000;
  params.iterations = 100;
  const auto cost = [&](const Task& task) {
    return DdmTables::Cost({rig, *layout, RigSurface(rig, *layout), 0, &task}, params).status();
  };
  constexpr std::size_t kLimit = 8 << 20;
  const absl::Status poor = cost(Task({.memory_limit = kLimit}));
  ASSERT_EQ(poor.code(), absl::StatusCode::kResourceExhausted) << poor;
  // After a full walk the message would name about a gigabyte.
  std::size_t known = 0;
  ASSERT_EQ(std::sscanf(std::string(poor.message()).c_str(), "memory: may need %zu", &known), 1);
  EXPECT_GT(known, kLimit);
  EXPECT_LT(known, kLimit + (2 << 20));
  std::stop_source stop;
  stop.request_stop();
  EXPECT_EQ(cost(Task({.stop = stop.get_token()})).code(), absl::StatusCode::kCancelled);
}

}  // namespace
}  // namespace sinew
