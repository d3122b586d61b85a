// direct_smoothing.h - smoothing of linearly blended points without iterations.
//
// Steps and linear blending are both linear, so a smoothed point is sum_j A_j psi_j + omega_j t_j
// over the joints around it, with (A_j t_j) the joint's matrix: psi_j is the smoothed share w_j u
// of the rest points, omega_j that of the weights w_j. Source: Le and Lewis 2019, whose method also
// restores the detail this way.
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/aligned.h"
#include "core/deform/method/method.h"
#include "core/surface/adjacency.h"

namespace sinew {

struct DeltaMush;

struct DirectSmoothing {
  BlockJoints joints;  // of 16 consecutive points, rising; without any: points are iterated
  AlignedVector<float> moments;     // [pairs][4][16], see DirectKernelArgs
  std::vector<std::uint8_t> still;  // [P] 1: no step moves the point

  bool used() const { return joints.pairs() > 0; }

  template <class Self, class Visit>
  static void Fields(Self& self, Visit&& visit, std::size_t points, std::size_t bindings) {
    visit("joint_offset", self.joints.offset,
          rule::Offsets((points + kLanes - 1) / kLanes, self.joints.pairs(), 1, !self.used()));
    visit("joint_entry", self.joints.entry, rule::Below(bindings),
          rule::Rising{self.joints.offset});
    visit("moments", self.moments, rule::Size(self.joints.pairs() * 4 * kLanes), rule::Finite());
    visit("still", self.still, rule::Size(self.used() ? points : 0), rule::Within{0, 1});
  }
};

// Upper limits of the bytes that it keeps, and takes while binding.
std::size_t DirectBytes(std::size_t points);
std::size_t DirectBindBytes(const Rig& rig);
// Progress units of BindDirect.
double DirectWork(std::size_t points, std::uint32_t steps);

// The tables of all steps of `mush`; unused where iterating is faster or smaller.
//
//    ring      neighbours of welded points, at least those of the steps
//    smoothed  [P] rest points after all steps, relative to the layout's centre
//
// kCancelled.
absl::StatusOr<DirectSmoothing> BindDirect(const BindInput& input, const DeltaMush& mush,
                                           const Adjacency& ring, const PointOrder& order,
                                           std::span<const Vec3d> smoothed, Task& task);

}  // namespace sinew
