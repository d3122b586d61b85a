#include "core/base/distance_meter.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace sinew {
namespace {

TEST(DistanceMeter, KnowsTheLargestAndItsPlace) {
  DistanceMeter meter;
  EXPECT_NEAR(meter.Add(7, std::vector<float>{3, 0, 4}), 5 / std::sqrt(3), 1e-12);
  EXPECT_EQ(meter.Add(2, std::vector<float>{1, 4}, 10), std::sqrt(8.5));
  const Distances all = meter.Result();
  EXPECT_NEAR(all.rms, std::sqrt(42.0 / 5), 1e-12);
  EXPECT_EQ(all.largest, 4);
  EXPECT_EQ(all.p99, 4);
  EXPECT_EQ(all.frame, 7u);
  EXPECT_EQ(all.vertex, 2u);
  meter.Add(5, std::vector<float>{4.5F}, 20);
  EXPECT_EQ(meter.Result().frame, 5u);
  EXPECT_EQ(meter.Result().vertex, 20u);
}

TEST(DistanceMeter, PercentileIsWithinOnePercent) {
  std::vector<float> distances;
  for (int k = 1; k <= 1000; ++k) distances.push_back(static_cast<float>(k) * 1e-4F);
  DistanceMeter meter;
  meter.Add(0, distances);
  EXPECT_GE(meter.Result().p99, 0.099);
  EXPECT_LE(meter.Result().p99, 0.099 * 1.008);
}

TEST(DistanceMeter, NothingIsZeroAndAnyNumberIsSafe) {
  EXPECT_EQ(DistanceMeter().Result().p99, 0);
  DistanceMeter exact, wild;
  exact.Add(1, std::vector<float>{0, 0});
  EXPECT_EQ(exact.Result().largest, 0);
  EXPECT_EQ(exact.Result().frame, 1u);
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  wild.Add(0, std::vector<float>{-kNan, kNan, std::numeric_limits<float>::infinity()});
  EXPECT_TRUE(std::isnan(wild.Result().rms));
}

}  // namespace
}  // namespace sinew
