#include "client/bake/distil/distil_errors.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace sinew::bake {
namespace {

constexpr int kDropped = 15;  // bits of a float that a count does not tell apart

}  // namespace

void DistilMeter::Sum::Add(float distance) {
  ++counts_[std::bit_cast<std::uint32_t>(distance) >> kDropped];
  ++count_;
  squares_ += double{distance} * distance;
  largest_ = std::max<double>(largest_, distance);
}

Distances DistilMeter::Sum::Result() const {
  if (count_ == 0) return {};
  Distances result{.rms = std::sqrt(squares_ / static_cast<double>(count_)), .largest = largest_};
  std::uint64_t below = 0;
  const std::uint64_t rank = count_ - count_ / 100;
  for (std::uint32_t bin = 0; bin < counts_.size(); ++bin) {
    below += counts_[bin];
    if (below < rank) continue;
    const float end = std::bit_cast<float>((bin + 1) << kDropped);
    result.p99 = std::min<double>(end, largest_);
    break;
  }
  return result;
}

void DistilMeter::Add(std::size_t pose, bool is_random, std::span<const float> distances) {
  double squares = 0;
  for (std::size_t v = 0; v < distances.size(); ++v) {
    const double square = double{distances[v]} * distances[v];
    all_.Add(distances[v]);
    (is_random ? random_ : clips_).Add(distances[v]);
    squares += square;
    joint_sums_[carriers_[v]] += square;
    ++joint_counts_[carriers_[v]];
    if (distances[v] > farthest_) {
      farthest_ = distances[v];
      farthest_vertex_ = v;
      farthest_pose_ = pose;
    }
  }
  const double rms = std::sqrt(squares / static_cast<double>(distances.size()));
  poses_.push_back(rms);
  if (rms > worst_rms_) {
    worst_rms_ = rms;
    worst_pose_ = pose;
  }
}

DistilErrors DistilMeter::Errors() const {
  DistilErrors errors{.all = all_.Result(),
                      .random = random_.Result(),
                      .clips = clips_.Result(),
                      .joints = {},
                      .poses = poses_,
                      .worst_pose = worst_pose_,
                      .farthest_vertex = farthest_vertex_,
                      .farthest_pose = farthest_pose_};
  for (std::size_t j = 0; j < joint_sums_.size(); ++j) {
    const auto count = static_cast<double>(std::max<std::uint64_t>(joint_counts_[j], 1));
    errors.joints.push_back(std::sqrt(joint_sums_[j] / count));
  }
  return errors;
}

}  // namespace sinew::bake
