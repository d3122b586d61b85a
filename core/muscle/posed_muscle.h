// posed_muscle.h - muscles in a pose: position and thickness of their bellies.
//
// Stateless: a function of joints and controls. Lengths scale with the origin's joint, so a
// uniformly scaled character keeps its muscles.
#pragma once

#include <absl/status/statusor.h>

#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "core/base/table_schema.h"
#include "core/base/types.h"
#include "core/muscle/muscle.h"
#include "core/muscle/muscle_path.h"

namespace sinew {

// A belly as an ellipsoid. frame: belly to model space, rotation and centre; its columns are the
// directions of chord (origin to insertion), width and depth, right-handed. radii: semi-axes along
// them, > 0.
struct PosedMuscle {
  Affine frame;
  float radii[3];
};

// The data needed to pose one muscle, in plain values that can be saved.
struct MuscleRow {
  double origin_tendon, insertion_tendon;
  double belly;  // rest length
  double width, depth, warp, tension;
  double fat;                      // < 0 = unset
  double wrap_radius, wrap_angle;  // at rest about the axis
  Vec3d wrap_centre, wrap_axis;    // joint space; of a sphere the rest plane's normal
  Vec3d chord, across;  // rest directions of chord and width in the space of the origin's joint
  double origin_size, wrap_size;  // rest determinants of the linear parts of these joints
  std::uint32_t profile, wrap_shape, wrap_joint, wrap_leg;  // wrap_leg: the leg around the obstacle
  std::uint32_t first_point, points;                        // origin, via points, insertion
  std::uint32_t control;                                    // kNoControl = not activated
  std::uint32_t unused;
};
struct MusclePointRow {
  Vec3d at;
  std::uint32_t joint, unused;
};
inline constexpr std::uint32_t kNoControl = 0xffffffffu;

// Enums, lengths and indices within the row are in range.
bool IsSound(const MuscleRow& row);

struct MuscleTables {
  std::vector<MuscleRow> rows;
  std::vector<MusclePointRow> points;

  // rest: [J] joint to model in the rest pose. kInvalidArgument: as CheckMuscles, or coincident
  // ends at rest, or tendons that leave no belly.
  static absl::StatusOr<MuscleTables> Create(std::span<const Muscle> muscles,
                                             std::span<const AffineD> rest, std::size_t controls);
  // Validates loaded tables. kDataLoss.
  absl::Status Check(std::size_t joints) const;
  // Number of controls and joints that a pose must have.
  std::size_t controls() const;
  std::size_t joints() const;

  template <class Self, class Visit>
  static void Fields(Self& self, Visit&& visit, const TableSizes& = {}) {
    visit("muscle_rows", self.rows, rule::Each("finite numbers in range", IsSound));
    visit("muscle_points", self.points, rule::Each("a finite point", [](const MusclePointRow& row) {
            return std::isfinite(row.at.x) && std::isfinite(row.at.y) && std::isfinite(row.at.z);
          }));
  }
};

struct MuscleState {
  std::vector<PathNode> path;  // origin to insertion
  double path_length = 0;
  double scale = 1;                         // length scale of the origin's joint
  double belly_from = 0, belly_length = 0;  // along the path
  double activation = 0;
  AffineD frame;  // as PosedMuscle
  double radii[3] = {};
};

// joints [J] joint to model, finite; controls [K], at least tables.controls(). Never NaN: a belly
// with coincident ends keeps its direction in the space of its origin's joint; thickness and length
// are at least a millionth of rest if a joint is scaled to zero.
MuscleState PoseMuscle(const MuscleTables& tables, std::size_t muscle,
                       std::span<const AffineD> joints, std::span<const float> controls);
MuscleState PoseMuscle(const MuscleTables& tables, std::size_t muscle,
                       std::span<const Affine> joints, std::span<const float> controls);
std::vector<PosedMuscle> PoseMuscles(const MuscleTables& tables, std::span<const Affine> joints,
                                     std::span<const float> controls);

}  // namespace sinew
