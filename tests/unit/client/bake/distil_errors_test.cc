// What `sinew distil` reports of distances, and how it judges them.
#include "client/bake/distil/distil_errors.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace sinew::bake {
namespace {

TEST(DistilMeter, ReportsPlacesOfTheLargestErrors) {
  const std::vector<std::uint32_t> carriers = {0, 0, 1};
  DistilMeter meter(carriers, 3);
  meter.Add(4, true, std::vector<float>{3, 0, 0});
  meter.Add(9, false, std::vector<float>{2, 2, 2.5F});
  const DistilErrors errors = meter.Errors();
  EXPECT_EQ(errors.worst_pose, 9u);
  EXPECT_EQ(errors.all.frame, 4u);
  EXPECT_EQ(errors.all.vertex, 0u);
  EXPECT_NEAR(errors.all.rms, std::sqrt((9 + 4 + 4 + 6.25) / 6), 1e-12);
  EXPECT_NEAR(errors.random.rms, std::sqrt(3), 1e-12);
  EXPECT_EQ(errors.clips.largest, 2.5);
  EXPECT_NEAR(errors.joints[0], std::sqrt(17.0 / 4), 1e-12);
  EXPECT_NEAR(errors.joints[1], 2.5 / std::sqrt(2), 1e-12);
  EXPECT_EQ(errors.joints[2], 0);
}

// A report of errors, of a character of size 1.
DistilReport Report(double before, double after) {
  DistilReport report;
  report.diagonal = 1;
  report.own.all.rms = before;
  report.linear.all.rms = after;
  return report;
}

TEST(DistilReport, JudgesByTheHeldOutPoses) {
  const DistilReport gain = Report(0.01, 0.008);
  EXPECT_NEAR(gain.gain(), 0.2, 1e-12);
  EXPECT_FALSE(gain.no_gain() || gain.is_worse() || gain.is_exact());
  EXPECT_TRUE(Report(0.01, 0.0099).no_gain());
  EXPECT_FALSE(Report(0.01, 0.0099).is_worse());
  EXPECT_TRUE(Report(0.01, 0.0101).is_worse());
  EXPECT_TRUE(Report(1e-8, 1e-7).is_exact());
  EXPECT_FALSE(Report(1e-8, 1e-7).is_worse());
}

TEST(DistilReport, ShapesAndFewerInfluencesCount) {
  DistilReport report = Report(0.01, 0.02);
  report.own_cut.emplace().all.rms = 0.04;
  EXPECT_NEAR(report.gain(), 0.5, 1e-12);
  report.shapes.emplace().all.rms = 0.01;
  EXPECT_NEAR(report.gain(), 0.75, 1e-12);
}

}  // namespace
}  // namespace sinew::bake
