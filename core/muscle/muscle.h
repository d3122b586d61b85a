// muscle.h - a fusiform muscle as authored, its profile, and its swelling law.
//
// A muscle runs from its origin over via points to its insertion, each fixed to a joint. Between
// two tendons of constant length is a belly of constant volume, which becomes shorter and thicker
// when the ends approach. Lengths are in rest-pose units; points are in joint space. Sources:
// Scheepers et al. 1997 (volume and the ratio of the axes), Wilhelms and Van Gelder 1997
// (generalised cylinders).
#pragma once

#include <absl/status/status.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/base/types.h"

namespace sinew {

inline constexpr std::size_t kMaxMuscles = 4096;  // per rig
inline constexpr std::size_t kMaxViaPoints = 64;  // per muscle
inline constexpr double kLongestMuscle = 1e9;     // limit of lengths and coordinates
inline constexpr double kShortestBelly = 0.5;     // relative to its rest length, in any pose
inline constexpr double kLongestBelly = 1.5;

// Radius along the belly, u in [0, 1] from origin to insertion, 1 in the middle. An ellipsoid is a
// quadric on the straight chord of the belly; the others are generalised cylinders along its path.
enum class MuscleProfile : std::uint8_t {
  kEllipsoid,  // sqrt(4 u (1 - u))
  kSine,       // sin(pi u)
  kRootSine,   // sqrt(sin(pi u)): fuller
  kParabola,   // 4 u (1 - u)
};

enum class WrapShape : std::uint8_t { kNone, kCylinder, kSphere };

struct MusclePoint {
  std::uint32_t joint = 0;
  Vec3d at;  // joint space
};

// An obstacle that the path bends around.
struct MuscleWrap {
  WrapShape shape = WrapShape::kNone;
  std::uint32_t joint = 0;
  Vec3d centre;         // joint space
  Vec3d axis{0, 0, 1};  // of a cylinder, joint space, any length but 0
  double radius = 0;    // > 0
};

struct Muscle {
  std::string name;  // unique
  MusclePoint origin, insertion;
  std::vector<MusclePoint> via;  // from origin to insertion
  MuscleWrap wrap;
  double origin_tendon = 0, insertion_tendon = 0;  // sum below the length of the rest path
  double width = 0, depth = 0;                     // rest semi-axes of the belly, > 0
  // Direction of the width in the space of the origin's joint; 0 = away from the bone. Tension
  // widens the belly in this direction, so it should point to the skin.
  Vec3d width_direction;
  MuscleProfile profile = MuscleProfile::kEllipsoid;
  // Shifts the belly's middle: u^warp for warp >= 1, 1 - (1 - u)^(1 / warp) below, so that 1 / warp
  // is the mirror image. 0.1 to 10; must be 1 for an ellipsoid.
  double warp = 1;
  double tension = 1.3;       // width / depth grows by this factor at full activation; 0.25 to 4
  std::optional<double> fat;  // distance between belly and skin; unset = from the rest pose
  std::optional<std::uint32_t> activation;  // control with the activation in [0, 1]
};

// All checks that do not need the rest pose. kInvalidArgument names the field, as in
// rig.muscles[3].via[0].joint.
absl::Status CheckMuscles(std::span<const Muscle> muscles, std::size_t joints,
                          std::size_t controls);

// Warped profile at u (0 outside [0, 1]), and its derivative, limited to +-8 at blunt ends.
double ProfileRadius(MuscleProfile profile, double warp, double u);
double ProfileSlope(MuscleProfile profile, double warp, double u);
// Integral of the squared profile: 2/3, 1/2, 2/pi and 8/15 without warp.
double ProfileArea(MuscleProfile profile, double warp);

// Length of a belly with rest length `rest` on a path of the given length without tendons, within a
// muscle's limits.
double BellyLength(double path_without_tendons, double rest);

struct BellyAxes {
  double width, depth;
};
// Semi-axes of the rest belly (width, depth, length `rest`) at another length and an activation in
// [0, 1]; width * depth * length is constant.
BellyAxes PumpedAxes(const BellyAxes& axes, double rest, double length, double tension,
                     double activation);
// pi * length * width * depth * ProfileArea.
double BellyVolume(const BellyAxes& axes, double length, MuscleProfile profile, double warp);

}  // namespace sinew
