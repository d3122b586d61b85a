// posed_muscle.h - muscles in a pose: where their bellies are and how thick.
//
// Stateless: a pure function of joints and controls. A joint that scales takes the lengths of the
// muscles that start at it along, so a figure scaled as a whole keeps its muscles.
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/types.h"
#include "core/muscle/muscle.h"
#include "core/muscle/muscle_path.h"
#include "core/rig/skeleton.h"

namespace sinew {

struct Pose;
class Rig;

// A belly as an ellipsoid. frame: belly to model space, rotation and centre; its columns are the
// directions of chord (origin to insertion), width and depth, right-handed. radii: semi-axes along
// them, > 0.
struct PosedMuscle {
  Affine frame;
  float radii[3];
};

// What posing needs of one muscle, in plain numbers that can be saved.
struct MuscleRow {
  double origin_tendon, insertion_tendon;
  double belly;  // rest length
  double width, depth, warp, tension;
  double fat;                      // < 0 = unset
  double wrap_radius, wrap_angle;  // at rest about the axis
  Vec3d wrap_centre, wrap_axis;    // joint space; of a sphere the rest plane's normal
  Vec3d chord, across;  // rest directions of chord and width, in the space of the origin's joint
  double origin_size, wrap_size;  // rest determinants of those joints' linear parts
  std::uint32_t profile, wrap_shape, wrap_joint, wrap_leg;  // the leg of the path that is wrapped
  std::uint32_t first_point, points;                        // origin, via points, insertion
  std::uint32_t control;                                    // kNoControl = not activated
  std::uint32_t unused;
};
struct MusclePointRow {
  Vec3d at;
  std::uint32_t joint, unused;
};
inline constexpr std::uint32_t kNoControl = 0xffffffffu;

struct MuscleTables {
  std::vector<MuscleRow> rows;
  std::vector<MusclePointRow> points;

  // kInvalidArgument: as CheckMuscles, or ends that coincide at rest, or tendons that leave no
  // belly there.
  static absl::StatusOr<MuscleTables> Create(std::span<const Muscle> muscles,
                                             const Skeleton& skeleton, std::size_t controls);
  // Run after loading. kDataLoss.
  absl::Status Check(std::size_t joints) const;
  // Controls and joints that a pose must have.
  std::size_t controls() const;
  std::size_t joints() const;

  template <class Self, class Visit>
  static void Fields(Self& self, Visit&& visit) {
    visit("muscle_rows", self.rows);
    visit("muscle_points", self.points);
  }
};

// One muscle in full.
struct MuscleState {
  std::vector<PathNode> path;  // origin to insertion
  double path_length = 0;
  double scale = 1;                         // of lengths, by the origin's joint
  double belly_from = 0, belly_length = 0;  // along the path
  double activation = 0;
  AffineD frame;  // as PosedMuscle
  double radii[3] = {};
};

// joints [J] joint to model, finite; controls [K], at least tables.controls(). Never NaN: a belly
// whose ends meet keeps the direction it has in the space of its origin's joint; thickness and
// length keep a millionth of their rest where a joint is scaled to nothing.
MuscleState PoseMuscle(const MuscleTables& tables, std::size_t muscle,
                       std::span<const AffineD> joints, std::span<const float> controls);
MuscleState PoseMuscle(const MuscleTables& tables, std::size_t muscle,
                       std::span<const Affine> joints, std::span<const float> controls);
std::vector<PosedMuscle> PoseMuscles(const MuscleTables& tables, std::span<const Affine> joints,
                                     std::span<const float> controls);
// For callers that have the rig at hand; empty controls of the pose are the defaults.
std::vector<PosedMuscle> PoseMuscles(const Rig& rig, const Pose& pose);

}  // namespace sinew
