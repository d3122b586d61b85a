#include "client/lib/stream/metrics_summary.h"

#include <gtest/gtest.h>

namespace sinew::client {
namespace {

TEST(MetricsSummary, MeanAndWorstOverFramesWithValue) {
  MetricsSummary summary;
  FrameMetrics frame;
  frame.volume_ratio = 0.9;
  frame.bulge = 0.1;
  frame.self_intersections = 2;
  summary.Add(frame);
  frame.volume_ratio = 0.7;
  frame.bulge = 0.3;
  frame.self_intersections = 5;
  frame.jerk = 3;
  summary.Add(frame);
  EXPECT_DOUBLE_EQ(*summary.Mean().volume_ratio, 0.8);
  EXPECT_DOUBLE_EQ(*summary.worst().volume_ratio, 0.7);
  EXPECT_DOUBLE_EQ(*summary.worst().bulge, 0.3);
  EXPECT_EQ(*summary.Mean().self_intersections, 4u) << "3.5, rounded";
  EXPECT_EQ(*summary.worst().self_intersections, 5u);
  EXPECT_DOUBLE_EQ(*summary.Mean().jerk, 3);
  frame.self_intersections.reset();
  summary.Add(frame);
  EXPECT_EQ(*summary.Mean().self_intersections, 4u) << "of the frames that have a count";
  EXPECT_FALSE(summary.Mean().edge_distortion.has_value());
}

}  // namespace
}  // namespace sinew::client
