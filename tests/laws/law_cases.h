// law_cases.h - the rigs and poses of the laws.
#pragma once

#include <string>
#include <vector>

#include "tests/support/small_rigs.h"
#include "tests/support/tube.h"

namespace sinew::testing {

inline const std::vector<NamedRig>& LawRigs() {
  static const auto* const kRigs = new std::vector<NamedRig>(AllRigs());
  return *kRigs;
}

struct NamedPose {
  std::string name;
  std::vector<Affine> joints;
};

// No two joints of a chain end up 180 degrees apart, where the shorter arc is ambiguous.
inline std::vector<NamedPose> LawPoses(const Rig& rig) {
  const auto rest = RestPose(rig);
  std::vector<NamedPose> poses = {
      {"rest", rest},
      {"bend80", BendPose(rig, 80)},
      {"bend200", BendPose(rig, 200)},
      {"twist170", TwistPose(rig, 170)},
      {"mirrored", Moved(ScaleMotion({-1, 1, 1}), BendPose(rig, 40))},
      {"stretched", Moved(ScaleMotion({2, 0.5, 1}), BendPose(rig, 30))},
  };
  // Only the last joint: scaled to zero, and moved onto the root.
  auto shrunk = rest, coincident = BendPose(rig, 50);
  for (const std::size_t i : {0, 1, 2, 4, 5, 6, 8, 9, 10}) shrunk.back().m[i] = 0;
  for (const std::size_t i : {3, 7, 11}) coincident.back().m[i] = coincident.front().m[i];
  poses.push_back({"shrunk", shrunk});
  poses.push_back({"coincident", coincident});
  return poses;
}

// The last joint mirrored relative to the others.
inline NamedPose HalfMirrored(const Rig& rig) {
  NamedPose pose = {"half mirrored", BendPose(rig, 40)};
  pose.joints.back() = ToFloat(Compose(ToDouble(pose.joints.back()), ScaleMotion({-1, 1, 1})));
  return pose;
}

struct NamedMirror {
  std::string name;
  AffineD motion;
};

// Across two axes, in a point, and across a plane with rotation and translation.
inline std::vector<NamedMirror> Mirrors() {
  return {{"x", ScaleMotion({-1, 1, 1})},
          {"z", ScaleMotion({1, 1, -1})},
          {"point", ScaleMotion({-1, -1, -1})},
          {"plane", Compose(RigidMotion({0.36, 0.48, 0.8}, 137, {0.3, -0.2, 0.1}),
                            ScaleMotion({1, -1, 1}))}};
}

}  // namespace sinew::testing
