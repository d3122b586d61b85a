// pose_path.h - interpolates between two poses.
//
// Every joint moves relative to its parent: rotations by slerp along the shorter arc, translation,
// stretch and controls linearly. Roots move relative to joint 0, whose own motion moves the whole
// character.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "core/base/types.h"
#include "core/rig/pose.h"

namespace sinew {

// Largest relative motion of any joint except joint 0.
struct PoseDistance {
  double degrees = 0;  // rotation
  double length = 0;   // translation, scene units
  double stretch = 0;  // change of any entry of the stretch; 1 = the size at rest
};

class PosePath {
 public:
  // parent [J], kNoParent = a root, parents before children. Both poses have J joints and the same
  // number of controls. All arguments must outlive the path.
  PosePath(std::span<const std::uint32_t> parent, const Pose& from, const Pose& to);

  PoseDistance Distance() const;
  // The pose at t in [0, 1]; t = 1 is exactly `to`.
  void At(double t, std::vector<Affine>& joints, std::vector<float>& controls) const;

 private:
  using Quaternion = std::array<double, 4>;
  // One end of a joint's path, relative to its carrier.
  struct End {
    Quaternion rotation{1, 0, 0, 0};
    Mat3d stretch;  // rotation * stretch is the linear part
    Vec3d translation;
  };
  struct Joint {
    std::uint32_t carrier;  // kNoParent: moves in model space
    End from, to;
  };
  static End Split(const AffineD& local, const Mat3d* rotation);  // null: none

  Pose from_, to_;
  std::vector<Joint> joints_;
};

}  // namespace sinew
