// pose_path.h - the poses on the way from one pose to another.
//
// Every joint goes relative to its parent: its rotation turns evenly the short way, translation,
// stretch and controls go straight. Joints without a parent go relative to joint 0, which alone
// carries the whole character.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "core/base/types.h"
#include "core/rig/pose.h"

namespace sinew {

// How far joints go relative to their parents; joint 0 does not count.
struct PoseDistance {
  double degrees = 0;  // largest turn
  double length = 0;   // largest translation, scene units
  double stretch = 0;  // largest change of a stretch, in any entry; 1 = by its own size at rest
};

class PosePath {
 public:
  // parent [J], kNoParent = a root, parents before children. Both poses have J joints and equally
  // many controls; borrowed while the path lives.
  PosePath(std::span<const std::uint32_t> parent, const Pose& from, const Pose& to);

  PoseDistance Distance() const;
  // The pose at t in [0, 1]; 1 is `to`, bit by bit.
  void At(double t, std::vector<Affine>& joints, std::vector<float>& controls) const;

 private:
  using Quaternion = std::array<double, 4>;
  // One end of a joint's way, relative to its carrier.
  struct End {
    Quaternion rotation{1, 0, 0, 0};
    Mat3d stretch;  // rotation * stretch is the linear part
    Vec3d translation;
  };
  struct Joint {
    std::uint32_t carrier;  // kNoParent: goes in model space
    End from, to;
  };
  static End Split(const AffineD& local, bool rotates);

  Pose from_, to_;
  std::vector<Joint> joints_;
};

}  // namespace sinew
