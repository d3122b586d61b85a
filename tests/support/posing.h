// posing.h - hard poses, and helpers to judge results: tolerances, moved points, the shape of a
// posed tube.
#pragma once

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>
#include <vector>

#include "core/base/types.h"
#include "core/rig/rig.h"
#include "tests/support/run_method.h"
#include "tests/support/tube.h"

namespace sinew::testing {

// For a tube whose joints all bend, for methods whose tables list many joints.
inline const TubeOptions kChainTube = {
    .rings = 61, .around = 12, .joints = 5, .weights = TubeWeights::kFour};

// Largest distance from the origin.
inline double Reach(std::span<const Vec3d> points) {
  double largest = 0;
  for (const Vec3d& p : points) largest = std::max(largest, std::sqrt(Dot(p, p)));
  return largest;
}

// Float precision of coordinates of this size: 1e-5 of the diagonal near the origin, rounding
// farther out.
inline double PosedTolerance(const Rig& rig) {
  const Vec3d corners[] = {rig.mesh().minimum(), rig.mesh().maximum()};
  return 1e-5 * rig.mesh().diagonal() + 1e-6 * Reach(corners) + 1e-6;
}

inline std::vector<Vec3d> Transformed(const AffineD& motion, std::vector<Vec3d> points) {
  for (Vec3d& p : points) p = Apply(motion, p);
  return points;
}

// The pose with `motion` applied to the last joint first.
inline std::vector<Affine> WithLast(std::vector<Affine> pose, const AffineD& motion) {
  pose.back() = ToFloat(Compose(ToDouble(pose.back()), motion));
  return pose;
}

// A bend whose last joint scales as well.
inline std::vector<Affine> ScaledPose(const Rig& rig, const Vec3d& scale) {
  return WithLast(BendPose(rig, 40), ScaleMotion(scale));
}

// Chain pose whose joints also stretch and shear.
inline std::vector<Affine> StretchedPose(const Rig& rig) {
  std::vector<Affine> pose = TurnPose(rig, {1, 1, 0}, 25);
  for (std::size_t j = 0; j < pose.size(); ++j) {
    const auto k = static_cast<double>(j);
    AffineD stretch = ScaleMotion({1 + 0.2 * k, 1 - 0.1 * k, 1});
    stretch.m[1] = 0.1 * k;
    pose[j] = ToFloat(Compose(ToDouble(pose[j]), stretch));
  }
  return pose;
}

// Every joint shifted differently, none turned.
inline std::vector<Affine> Shifted(std::vector<Affine> pose) {
  for (std::size_t j = 0; j < pose.size(); ++j) {
    pose[j].m[3] += 0.25f * static_cast<float>(j);
    pose[j].m[7] -= static_cast<float>(j * j) * 0.125f;
  }
  return pose;
}

// Motions of a whole character.
inline std::vector<AffineD> AffineMotions() {
  return {RigidMotion({1, 2, 3}, 200, {1, -2, 3}),
          ScaleMotion({2, 2, 2}),
          ScaleMotion({-1, 1, 1}),
          ScaleMotion({0, 1, 1}),
          Compose(RigidMotion({1, 2, 3}, 70, {1, 2, 3}), ScaleMotion({3, 0.5, 1})),
          {{1, 0.5, 0, 1, 0, 0.8, -0.25, 2, 0.125, 0, 1.5, 3}}};
}

// No pose has two joints exactly 180 degrees apart, where both ways of blending are valid. In the
// one at kHalfMirrored the last joint alone mirrors.
inline constexpr std::size_t kHalfMirrored = 6;
inline std::vector<std::vector<Affine>> HardPoses(const Rig& rig) {
  return {RestPose(rig),
          BendPose(rig, 80),
          TwistPose(rig, 170),
          TurnPose(rig, {1, 2, 3}, -100),
          Moved(RigidMotion({1, 1, 0}, 400, {3, 1, -2}), BendPose(rig, 50)),
          ScaledPose(rig, {1.5, 0.5, 2}),
          WithLast(BendPose(rig, 40),
                   Compose(ScaleMotion({-1, 1, 1}), RigidMotion({1, 0.2, 0}, 30, {}))),
          Moved(ScaleMotion({-2, 2, 2}), TwistPose(rig, 30))};
}

// Volume and smallest ring radius of the reference tube, relative to rest.
struct TubeShape {
  double volume, radius;
};
inline TubeShape ShapeOf(const Rig& rig, std::span<const Vec3d> posed) {
  const TubeOptions options;
  return {TubeVolume(options, posed) / TubeVolume(options, RestPoints(rig)),
          TubeMinRadius(options, posed)};
}

}  // namespace sinew::testing
