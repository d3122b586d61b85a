// metrics_summary.h - mean and worst of the metrics of many frames. Units are those of
// FrameMetrics, see sinew/compare.h. Frames count alike, in the order of Add: a fixed order gives
// the same bits. One thread at a time.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "sinew/compare.h"

namespace sinew::client {

// Each metric is summarised over the frames that have it. Worst is the smallest volume and
// thickness and the largest of the others; the mean of a count is rounded.
class MetricsSummary {
 public:
  // A metric that the frame does not have, such as the volume of an open mesh, changes nothing.
  // Metrics that are there must be finite. The number of the frame is not kept.
  void Add(const FrameMetrics& frame) {
    for (std::size_t i = 0; i < kFields.size(); ++i) {
      const auto [member, small_is_worst] = kFields[i];
      const std::optional<double>& value = frame.*member;
      if (!value) continue;
      ++counts_[i];
      sum_.*member = (sum_.*member).value_or(0) + *value;
      std::optional<double>& worst = worst_.*member;
      if (!worst || (small_is_worst ? *value < *worst : *value > *worst)) worst = value;
    }
    if (frame.self_intersections) {
      ++counted_;
      sum_.self_intersections = sum_.self_intersections.value_or(0) + *frame.self_intersections;
      worst_.self_intersections =
          std::max(worst_.self_intersections.value_or(0), *frame.self_intersections);
    }
  }

  // Each metric is the worst by itself, so that they may come from several frames. Unset: no frame
  // has it.
  const FrameMetrics& worst() const { return worst_; }

  // Arithmetic, over the frames that have the metric. Unset: none has.
  FrameMetrics Mean() const {
    FrameMetrics mean;
    for (std::size_t i = 0; i < kFields.size(); ++i) {
      const auto member = kFields[i].value;
      if (counts_[i] > 0) mean.*member = *(sum_.*member) / static_cast<double>(counts_[i]);
    }
    if (sum_.self_intersections) {
      mean.self_intersections = (*sum_.self_intersections + counted_ / 2) / counted_;
    }
    return mean;
  }

 private:
  struct Field {
    std::optional<double> FrameMetrics::*value;
    bool small_is_worst;
  };
  static constexpr std::array<Field, 15> kFields = {{{&FrameMetrics::volume_ratio, true},
                                                     {&FrameMetrics::minimum_thickness, true},
                                                     {&FrameMetrics::bulge, false},
                                                     {&FrameMetrics::edge_distortion, false},
                                                     {&FrameMetrics::worst_edge, false},
                                                     {&FrameMetrics::area_distortion, false},
                                                     {&FrameMetrics::flipped_fraction, false},
                                                     {&FrameMetrics::flipped_beyond_linear, false},
                                                     {&FrameMetrics::overlap, false},
                                                     {&FrameMetrics::roughness, false},
                                                     {&FrameMetrics::roughness_999, false},
                                                     {&FrameMetrics::rough_fraction, false},
                                                     {&FrameMetrics::jerk, false},
                                                     {&FrameMetrics::pop, false},
                                                     {&FrameMetrics::pop_999, false}}};

  std::uint64_t counted_ = 0;  // frames with self-intersections
  std::array<std::uint64_t, kFields.size()> counts_{};
  FrameMetrics sum_, worst_;
};

}  // namespace sinew::client
