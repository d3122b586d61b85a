// summary.h - mean and worst of the metrics of many frames.
//
// Header-only and without other headers of core, because the client library uses it for its own
// struct of metrics and links no library of core.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace sinew::metrics {

// Each metric is summarised over the frames that have it. Worst is the smallest volume and
// thickness and the largest of the others; the mean of a count is rounded.
//   Metrics  has the members of metrics::FrameMetrics
template <class Metrics>
class Summary {
 public:
  void Add(const Metrics& frame) {
    ++frames_;
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

  std::uint64_t frames() const { return frames_; }
  const Metrics& worst() const { return worst_; }

  Metrics Mean() const {
    Metrics mean;
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
    std::optional<double> Metrics::*value;
    bool small_is_worst;
  };
  static constexpr std::array<Field, 15> kFields = {{{&Metrics::volume_ratio, true},
                                                     {&Metrics::minimum_thickness, true},
                                                     {&Metrics::bulge, false},
                                                     {&Metrics::edge_distortion, false},
                                                     {&Metrics::worst_edge, false},
                                                     {&Metrics::area_distortion, false},
                                                     {&Metrics::flipped_fraction, false},
                                                     {&Metrics::flipped_beyond_linear, false},
                                                     {&Metrics::overlap, false},
                                                     {&Metrics::roughness, false},
                                                     {&Metrics::roughness_999, false},
                                                     {&Metrics::rough_fraction, false},
                                                     {&Metrics::jerk, false},
                                                     {&Metrics::pop, false},
                                                     {&Metrics::pop_999, false}}};

  std::uint64_t frames_ = 0, counted_ = 0;  // counted_: frames with self-intersections
  std::array<std::uint64_t, kFields.size()> counts_{};
  Metrics sum_, worst_;
};

}  // namespace sinew::metrics
