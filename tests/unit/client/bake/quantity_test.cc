#include "client/bake/base/quantity.h"

#include <gtest/gtest.h>

#include "client/bake/base/errors.h"

namespace sinew::bake {
namespace {

TEST(Quantity, CountsHaveCommas) {
  EXPECT_EQ(CountText(0), "0");
  EXPECT_EQ(CountText(999), "999");
  EXPECT_EQ(CountText(1000), "1,000");
  EXPECT_EQ(CountText(12'345'678), "12,345,678");
}

TEST(Quantity, BytesUseUnitsBelowAThousand) {
  EXPECT_EQ(BytesText(1), "1 byte");
  EXPECT_EQ(BytesText(999), "999 bytes");
  EXPECT_EQ(BytesText(1000), "1.0 kB");
  EXPECT_EQ(BytesText(999'960), "1.0 MB");
  EXPECT_EQ(BytesText(UINT64_MAX), "18.4 EB");
}

TEST(Quantity, DurationsSelectUnit) {
  EXPECT_EQ(DurationText(absl::ZeroDuration()), "0 s");
  EXPECT_EQ(DurationText(absl::Microseconds(420)), "420 us");
  EXPECT_EQ(DurationText(absl::Microseconds(4200)), "4.2 ms");
  EXPECT_EQ(DurationText(absl::Milliseconds(3100)), "3.1 s");
  EXPECT_EQ(DurationText(absl::Minutes(12)), "12 min");
  EXPECT_EQ(DurationText(absl::Hours(5)), "5.0 h");
  EXPECT_EQ(DurationText(absl::InfiniteDuration()), "never");
  EXPECT_EQ(DurationText(-absl::Seconds(2)), "-2 s");
}

TEST(Quantity, TimesDefaultToSeconds) {
  EXPECT_EQ(*ParseDuration("--ttl", "90"), absl::Seconds(90));
  EXPECT_EQ(*ParseDuration("--ttl", "1h30m"), absl::Minutes(90));
  EXPECT_EQ(*ParseDuration("--ttl", "0.5"), absl::Milliseconds(500));
  for (const char* text : {"", "0", "-5", "soon", "5 apples", "inf", "nan", "-1h"}) {
    const auto duration = ParseDuration("--ttl", text);
    ASSERT_FALSE(duration.ok()) << text;
    EXPECT_TRUE(IsRequestError(duration.status())) << text;
  }
}

TEST(Spread, UsesNearestRank) {
  std::vector<double> values;
  for (int k = 100; k >= 1; --k) values.push_back(k);
  const Spread spread = SpreadOf(values);
  EXPECT_EQ(spread.mean, 50.5);
  EXPECT_EQ(spread.p50, 50);
  EXPECT_EQ(spread.p90, 90);
  EXPECT_EQ(spread.p99, 99);
  EXPECT_EQ(spread.p999, 100);
  EXPECT_EQ(spread.maximum, 100);
  EXPECT_EQ(SpreadOf({3}).p50, 3);
  EXPECT_EQ(SpreadOf({}).maximum, 0);
}

}  // namespace
}  // namespace sinew::bake
