#include "client/bench/latency_plot.h"

#include <gtest/gtest.h>

namespace sinew::bench {
namespace {

constexpr client::Rgb kFirst = {0, 114, 178}, kSecond = {213, 94, 0};  // colours of curves

// Rows of pixels of this colour above the labels, in this column.
std::vector<std::uint32_t> RowsOf(const client::Image& image, client::Rgb colour,
                                  std::uint32_t column) {
  std::vector<std::uint32_t> rows;
  for (std::uint32_t y = 0; y + 60 < image.height; ++y) {
    if (image.At(column, y) == colour) rows.push_back(y);
  }
  return rows;
}

TEST(LatencyPlot, HasTheSizeAndOneLinePerCurve) {
  const LatencyCurve curves[] = {{.label = "fast", .latencies = std::vector<float>(1000, 1.F)},
                                 {.label = "slow", .latencies = std::vector<float>(1000, 10.F)}};
  const auto image = PlotLatency(curves, "title", 400, 300);
  ASSERT_TRUE(image.ok()) << image.status();
  EXPECT_EQ(image->width, 400U);
  EXPECT_EQ(image->height, 300U);
  const auto fast = RowsOf(*image, kFirst, 200), slow = RowsOf(*image, kSecond, 200);
  ASSERT_FALSE(fast.empty());
  ASSERT_FALSE(slow.empty());
  EXPECT_LT(slow.back(), fast.front()) << "slower is higher";
}

TEST(LatencyPlot, LineRisesWhereTheSlowestAre) {
  std::vector<float> latencies(1000, 1.F);
  for (std::size_t k = 0; k < 20; ++k) latencies[k * 50] = 100.F;  // 2 %: beyond p98
  const LatencyCurve curves[] = {{.label = "stall", .latencies = latencies}};
  const auto image = PlotLatency(curves, "", 640, 400);
  ASSERT_TRUE(image.ok()) << image.status();
  const auto early = RowsOf(*image, kFirst, 80), late = RowsOf(*image, kFirst, 560);
  ASSERT_FALSE(early.empty());
  ASSERT_FALSE(late.empty());
  EXPECT_GT(early.front(), late.back() + 100);
}

TEST(LatencyPlot, DrawsOnePoseAndManyCurves) {
  std::vector<LatencyCurve> curves(
      24, {.label = "a long label that does not fit in its column", .latencies = {0.F}});
  curves[3].latencies = {50'000.F};
  const auto image = PlotLatency(curves, "title", kLeastPlotWidth, kLeastPlotHeight);
  ASSERT_TRUE(image.ok()) << image.status();
  EXPECT_EQ(image->rgb.size(), std::size_t{kLeastPlotWidth} * kLeastPlotHeight * 3);
}

}  // namespace
}  // namespace sinew::bench
