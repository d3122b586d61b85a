#include "client/bake/distil/distil_errors.h"

#include <algorithm>
#include <cmath>

namespace sinew::bake {

double DistilReport::gain() const {
  const double before = baseline().all.rms;
  return before > 0 ? 1 - result().all.rms / before : 0;
}

bool DistilReport::is_exact() const {
  const double limit = kRounding * diagonal;
  return result().all.rms <= limit && baseline().all.rms <= limit;
}

bool DistilReport::no_gain() const {
  return gain() < kLeastGain;
}

bool DistilReport::is_worse() const {
  return !is_exact() && gain() < 0;
}

void DistilMeter::Add(std::size_t pose, bool is_random, std::span<const float> distances) {
  const double rms = all_.Add(pose, distances);
  (is_random ? random_ : clips_).Add(pose, distances);
  for (std::size_t v = 0; v < distances.size(); ++v) {
    joint_sums_[carriers_[v]] += double{distances[v]} * distances[v];
    ++joint_counts_[carriers_[v]];
  }
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
                      .worst_pose = worst_pose_};
  for (std::size_t j = 0; j < joint_sums_.size(); ++j) {
    const auto count = static_cast<double>(std::max<std::uint64_t>(joint_counts_[j], 1));
    errors.joints.push_back(std::sqrt(joint_sums_[j] / count));
  }
  return errors;
}

}  // namespace sinew::bake
