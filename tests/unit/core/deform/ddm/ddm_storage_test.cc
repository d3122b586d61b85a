// float16 tables: memory, precision, detection of damage.
#include "core/deform/ddm/ddm_storage.h"
#include "core/surface/rig_surface.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include "core/deform/method/fields.h"
#include "core/simd/half.h"
#include "tests/unit/core/deform/ddm/bound_ddm.h"

namespace sinew {
namespace {

using testing::BoundDdm;
using testing::MaxDistance;

const testing::TubeOptions kChain = {
    .rings = 121, .around = 24, .joints = 6, .weights = testing::TubeWeights::kFour};

DdmParams ParamsOf(std::uint32_t variant, Storage storage, float alpha = 0) {
  DdmParams params;
  params.variant = variant;
  params.storage = storage;
  params.alpha = alpha;
  return params;
}

double ByRecipe(std::uint16_t half) {
  const int exponent = half >> 10 & 31, mantissa = half & 1023;
  const double magnitude =
      exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(1024 + mantissa, exponent - 25);
  return half >> 15 ? -magnitude : magnitude;
}

TEST(Half, RoundTripsAndMatchesStandard) {
  for (const bool flush : {false, true}) {
    std::unique_ptr<DenormalGuard> guard;
    if (flush) guard = std::make_unique<DenormalGuard>();
    for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
      const auto half = static_cast<std::uint16_t>(bits);
      if ((half & kHalfMagnitude) >= 0x7c00) continue;
      EXPECT_EQ(double{FromHalf(half)}, ByRecipe(half)) << bits;
      EXPECT_EQ(ToHalf(FromHalf(half)), half) << bits;
    }
  }
  EXPECT_TRUE(std::isinf(FromHalf(0x7c00)) && std::isinf(FromHalf(ToHalf(1e6f))));
  EXPECT_TRUE(std::isnan(FromHalf(0x7e00)) && std::isnan(FromHalf(ToHalf(NAN))));
}

TEST(Half, RoundsToNearestEven) {
  std::mt19937 random(3);
  std::uniform_real_distribution<float> size(-28, 15), sign(-1, 1);
  for (int k = 0; k < 200000; ++k) {
    const float value = std::copysign(std::exp2(size(random)), sign(random));
    const std::uint16_t half = ToHalf(value);
    const double error = std::abs(ByRecipe(half) - double{value});
    for (const int step : {-1, 1}) {
      const int beside = (half & kHalfMagnitude) + step;
      if (beside < 0) continue;
      const auto other = static_cast<std::uint16_t>((half & 0x8000) | beside);
      ASSERT_LE(error, std::abs(ByRecipe(other) - double{value})) << value;
    }
  }
  EXPECT_EQ(ToHalf(1 + 0x1p-11f), kHalfOne);
  EXPECT_EQ(ToHalf(1 + 0x3p-11f), kHalfOne + 2);
  EXPECT_EQ(ToHalf(0x1p-25f), 0);
  EXPECT_EQ(ToHalf(0x3p-25f), 2);
}

TEST(DdmStorage, Float16HalvesMemory) {
  const Rig rig = testing::TubeRig(kChain);
  for (std::uint32_t variant = 0; variant < 6; ++variant) {
    for (const float alpha : {0.0f, 0.5f}) {
      const BoundDdm full(rig, ParamsOf(variant, Storage::kFloat32, alpha));
      const BoundDdm half(rig, ParamsOf(variant, Storage::kFloat16, alpha));
      const double values = static_cast<double>(full.tables().moments.size()) * 4;
      const double halved = static_cast<double>(half.tables().halves.size()) * 2 +
                            static_cast<double>(half.tables().units.size()) * 4;
      EXPECT_TRUE(half.tables().moments.empty());
      EXPECT_LE(halved, 0.52 * values) << variant;
      const std::size_t fields[] = {10, 10, 4, 4, 1, 1}, extra[] = {1, 1, 1, 1, 1, 0};
      EXPECT_EQ(
          full.tables().moments.size(),
          full.tables().joints.pairs() * 16 * (fields[variant] + (alpha > 0 ? extra[variant] : 0)));
    }
  }
}

TEST(DdmStorage, ReportedErrorHoldsForOtherPoses) {
  const Rig rig = testing::TubeRig(kChain);
  for (std::uint32_t variant = 0; variant < 6; ++variant) {
    const BoundDdm full(rig, ParamsOf(variant, Storage::kFloat32));
    const BoundDdm half(rig, ParamsOf(variant, Storage::kFloat16));
    const double reported = double{half.tables().storage_error};
    EXPECT_GT(reported, 1e-6) << variant;
    EXPECT_LT(reported, 1e-3) << variant;
    EXPECT_EQ(full.tables().storage_error, 0);
    for (const auto& pose : {testing::BendPose(rig, 40), testing::TwistPose(rig, 50),
                             testing::TurnPose(rig, {1, 2, 3}, 30)}) {
      EXPECT_LE(MaxDistance(full.Run(pose), half.Run(pose)), 2 * reported * rig.mesh().diagonal())
          << variant;
    }
  }
}

TEST(DdmStorage, MeasuresOwnForm) {
  // Joints with non-uniform rest scale shear when they rotate, so the forms differ.
  RigSource source = testing::TubeSource(kChain);
  for (std::size_t j = 1; j < source.rest_local.size(); ++j) {
    source.rest_local[j] = Compose(source.rest_local[j], testing::ScaleMotion({1, 3, 0.25}));
  }
  const Rig rig = testing::MakeRig(std::move(source));
  const auto layout = testing::ValueOrDie(BlockLayout::Create(rig));
  const BindInput input = {rig, *layout, RigSurface(rig, *layout)};
  Task task;
  for (const std::uint32_t variant : {0u, 2u, 3u, 4u}) {
    const auto bind = [&](Storage storage, bool enhanced) {
      return testing::ValueOrDie(
          DdmTables::Bind(input, ParamsOf(variant, storage), {.enhanced = enhanced}, task));
    };
    const DdmTables full = bind(Storage::kFloat32, true), half = bind(Storage::kFloat16, true);
    const double plain = LargestDifference(input, full, half, false, task);
    const double enhanced = LargestDifference(input, full, half, true, task);
    EXPECT_NE(enhanced, plain) << variant;
    EXPECT_EQ(half.storage_error, static_cast<float>(enhanced)) << variant;
    EXPECT_EQ(bind(Storage::kFloat16, false).storage_error, static_cast<float>(plain)) << variant;
  }
}

TEST(DdmStorage, ReportsBindStatistics) {
  using ::testing::ElementsAre;
  using ::testing::Field;
  const Rig rig = testing::TubeRig(kChain);
  Ddm method;
  method.tables = BoundDdm(rig, ParamsOf(0, Storage::kFloat32)).tables();
  EXPECT_THAT(method.Statistics(), ElementsAre(Field(&BindStatistic::name, "dropped_mass"),
                                               Field(&BindStatistic::name, "smoothing_radius")));
  EXPECT_EQ(method.Statistics()[0].value, double{method.tables.dropped});
  EXPECT_NEAR(method.Statistics()[1].value, 4, 1e-6);  // sqrt(4 steps of 4)
  method.tables = BoundDdm(rig, ParamsOf(2, Storage::kFloat16)).tables();
  ASSERT_EQ(method.Statistics().size(), 3u);
  EXPECT_EQ(method.Statistics()[2].name, "storage_error");
  EXPECT_EQ(method.Statistics()[2].value, double{method.tables.storage_error});
}

TEST(DdmStorage, PredictsTableSizes) {
  for (const testing::NamedRig& named : testing::AllRigs()) {
    for (std::uint32_t variant = 0; variant < 6; ++variant) {
      for (const Storage storage : {Storage::kFloat32, Storage::kFloat16}) {
        for (const float alpha : {0.0f, 0.5f}) {
          const DdmParams params = ParamsOf(variant, storage, alpha);
          const BoundDdm ddm(named.rig, params);
          const BindCost cost = *DdmTables::Cost(
              {named.rig, ddm.layout(), RigSurface(named.rig, ddm.layout())}, params);
          const std::size_t bytes = FieldBytes(ddm.tables()) - sizeof(DdmTables);
          EXPECT_GE(cost.bound_bytes, bytes) << named.name << " variant " << variant;
          EXPECT_LE(cost.bound_bytes, 4 * bytes) << named.name << " variant " << variant;
          EXPECT_GE(cost.peak_bytes, cost.bound_bytes);
        }
      }
    }
  }
}

TEST(DdmStorage, CheckRejectsDamagedTables) {
  const Rig rig = testing::TubeRig();
  const auto damaged = [&](std::uint32_t variant, Storage storage, auto change) {
    const BoundDdm ddm(rig, ParamsOf(variant, storage, 0.5f));
    DdmTables tables = ddm.tables();
    change(tables);
    return tables.Check(ddm.layout(), rig.bindings().size(), false).code();
  };
  constexpr auto kFull = Storage::kFloat32, kHalf = Storage::kFloat16;
  constexpr auto kLoss = absl::StatusCode::kDataLoss;
  for (std::uint32_t variant = 0; variant < 6; ++variant) {
    EXPECT_EQ(damaged(variant, kHalf, [](DdmTables&) {}), absl::StatusCode::kOk);
    EXPECT_EQ(damaged(variant, kHalf, [](DdmTables& t) { t.halves.pop_back(); }), kLoss);
    EXPECT_EQ(damaged(variant, kHalf, [](DdmTables& t) { t.halves[3] = 0x3c01; }), kLoss);
    EXPECT_EQ(damaged(variant, kHalf, [](DdmTables& t) { t.units.push_back(1); }), kLoss);
    EXPECT_EQ(damaged(variant, kHalf, [](DdmTables& t) { t.half = 0; }), kLoss);
    EXPECT_EQ(damaged(variant, kFull, [](DdmTables& t) { t.half = 2; }), kLoss);
    EXPECT_EQ(damaged(variant, kFull, [](DdmTables& t) { t.variant = 6; }), kLoss);
    EXPECT_EQ(damaged(variant, kFull, [](DdmTables& t) { t.variant = (t.variant + 2) % 6; }),
              kLoss);
    EXPECT_EQ(damaged(variant, kFull, [](DdmTables& t) { ++t.widest; }), kLoss);
    EXPECT_EQ(damaged(variant, kFull, [](DdmTables& t) { t.moments[5] = NAN; }), kLoss);
    EXPECT_EQ(damaged(variant, kFull, [](DdmTables& t) { t.fit.push_back(1); }), kLoss);
    EXPECT_EQ(damaged(variant, kFull, [](DdmTables& t) { t.storage_error = NAN; }), kLoss);
  }
  EXPECT_EQ(damaged(1, kFull, [](DdmTables& t) { t.fit[3] = INFINITY; }), kLoss);
  EXPECT_EQ(damaged(0, kHalf, [](DdmTables& t) { t.units[1] = INFINITY; }), kLoss);
}

}  // namespace
}  // namespace sinew
