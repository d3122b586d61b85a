// pose_samples.h - poses that show what a deformer does: every joint turned at random within
// limits.
//
// A turn is a rotation vector (axis times angle in radians, at most pi long) that a joint makes
// from its rest pose, about axes of its own: local = rest local * rotation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <numbers>
#include <span>
#include <vector>

#include "core/base/types.h"
#include "core/rig/skeleton.h"

namespace sinew {

// The turn of a rotation; its angle is 0 to pi.
Vec3d TurnOf(const Mat3d& rotation);
Mat3d RotationOf(const Vec3d& turn);

// The turns that a joint makes: a box around rest, and a largest angle.
struct TurnRange {
  Vec3d low, high;
  double most = std::numbers::pi;

  bool fixed() const { return low == high; }
  // The nearest point of the box; then shortened to `most`.
  Vec3d Clamp(const Vec3d& turn) const;
};

// Up to `angle` about any axis.
TurnRange FreeRange(double angle);

// Measures turns in poses of a skeleton.
class TurnMeter {
 public:
  explicit TurnMeter(const Skeleton& skeleton);
  // [J] the turns of all joints, given joint to model space. Translation and scale do not count;
  // a joint that is scaled to nothing does not turn.
  std::vector<Vec3d> Measure(std::span<const AffineD> model) const;
  // The rotation of a joint at rest, relative to its parent.
  const Mat3d& rest(std::size_t joint) const { return rest_[joint]; }
  // Whether it mirrors its parent's space at rest.
  bool mirrors(std::size_t joint) const;

 private:
  Mat3d LocalRotation(std::size_t joint, std::span<const AffineD> model) const;
  const Skeleton& skeleton_;
  std::vector<Mat3d> rest_;  // [J] rotations relative to the parent
};

// The smallest box that holds all `poses` ([J] turns each), for each joint, with sides longer by
// the factor 1 + `margin` about their middles.
std::vector<TurnRange> RangesOf(std::span<const std::vector<Vec3d>> poses, std::size_t joints,
                                double margin);

// [J] joint to model space: every joint turned from rest.
std::vector<AffineD> TurnedPose(const Skeleton& skeleton, std::span<const Vec3d> turns);

// [J] uniform in the boxes. The numbers depend on seed, pose and joint alone (PCG).
std::vector<Vec3d> RandomTurns(std::span<const TurnRange> ranges, std::uint64_t seed,
                               std::uint64_t pose);

// Turns that span a range: none, then both ends and both halves along each axis, then the corners.
// Those nearer than 1 degree to an earlier one are left out. At most 21.
std::vector<Vec3d> SpanningTurns(const TurnRange& range);

// n / 3 of the poses 1 to n - 1, rising, chosen by the seed. Pose 0 is never among them.
std::vector<std::size_t> HeldOutPoses(std::size_t n, std::uint64_t seed);

}  // namespace sinew
