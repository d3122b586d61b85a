// The client sums up frames of many blocks by itself: as the server does those of one.
#include <gtest/gtest.h>

#include <optional>
#include <random>

#include "client/lib/stream/compare.h"
#include "core/metrics/meter.h"

namespace sinew::client {
namespace {

// Every figure that both know, side by side.
template <class Visit>
void ForEachFigure(FrameMetrics& client, metrics::FrameMetrics& core, Visit&& visit) {
  visit(client.volume_ratio, core.volume_ratio);
  visit(client.minimum_thickness, core.minimum_thickness);
  visit(client.bulge, core.bulge);
  visit(client.edge_distortion, core.edge_distortion);
  visit(client.worst_edge, core.worst_edge);
  visit(client.area_distortion, core.area_distortion);
  visit(client.flipped_fraction, core.flipped_fraction);
  visit(client.flipped_beyond_linear, core.flipped_beyond_linear);
  visit(client.self_intersections, core.self_intersections);
  visit(client.overlap, core.overlap);
  visit(client.jerk, core.jerk);
}

TEST(Summary, IsTheServers) {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> value(-2, 3), part(0, 1);
  for (int round = 0; round < 200; ++round) {
    TargetMetrics target;
    metrics::MetricsSummary summary;
    const double absent = part(random) < 0.2 ? 1 : part(random);  // how often a figure is missing
    for (int frames = static_cast<int>(random() % 12); frames > 0; --frames) {
      FrameMetrics frame;
      metrics::FrameMetrics same;
      ForEachFigure(frame, same, [&]<class T>(std::optional<T>& a, std::optional<T>& b) {
        if (part(random) < absent) return;
        if constexpr (std::is_same_v<T, double>) {
          a = value(random);
        } else {
          a = random() % 1000;
        }
        b = a;
      });
      target.frames.push_back(frame);
      summary.Add(same);
    }
    Summarise(target);
    metrics::FrameMetrics mean = summary.Mean(), worst = summary.worst();
    ForEachFigure(target.mean, mean, [](const auto& a, const auto& b) { EXPECT_EQ(a, b); });
    ForEachFigure(target.worst, worst, [](const auto& a, const auto& b) { EXPECT_EQ(a, b); });
  }
}

}  // namespace
}  // namespace sinew::client
