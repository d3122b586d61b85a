// distil_errors.h - collects distances of vertices over poses.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "client/bake/distil/distil.h"
#include "core/base/distance_meter.h"

namespace sinew::bake {

constexpr double kRounding = 1e-6;  // of the diagonal: distances that mean nothing

class DistilMeter {
 public:
  // carriers: [V] the joint that each vertex counts for, below `joints`.
  DistilMeter(std::span<const std::uint32_t> carriers, std::size_t joints)
      : carriers_(carriers), joint_sums_(joints), joint_counts_(joints) {}

  // The distances of a pose, [V].
  void Add(std::size_t pose, bool is_random, std::span<const float> distances);
  DistilErrors Errors() const;

 private:
  std::span<const std::uint32_t> carriers_;
  DistanceMeter all_, random_, clips_;
  std::vector<double> joint_sums_;
  std::vector<std::uint64_t> joint_counts_;
  std::vector<double> poses_;
  double worst_rms_ = -1;
  std::size_t worst_pose_ = 0;
};

}  // namespace sinew::bake
