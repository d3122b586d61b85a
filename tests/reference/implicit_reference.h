// implicit_reference.h - the projection of implicit skinning in double, directly from the formulas,
// one point at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "core/base/types.h"
#include "core/rig/rig.h"
#include "tests/reference/delta_mush_reference.h"

namespace sinew::reference {

struct FieldValue {
  double value = 0;
  Vec3d gradient;
};

// Neighbours of a point with their weights.
using WeightRow = std::vector<std::pair<std::size_t, double>>;

// Mean-value weights of the welded points of a triangle mesh; an empty row if undefined.
std::vector<WeightRow> MeanValueRows(const MushMesh& mesh);

// Signed distances of parts, in units, with gradients of about 1 at the surface.
struct LimbDistances {
  using Field = std::function<FieldValue(std::size_t part, const Vec3d& x)>;
  Field bind, posed;
  // PosedField::Trust at a point of the bind pose, and its distance from the bone in units.
  std::function<double(std::size_t part, const Vec3d&x)> trust, from_bone;
  std::vector<AffineD> motions;  // [parts] from the bind pose
  std::vector<Vec3d> centre;     // [parts] in the bind pose
  std::vector<double> reach;     // [parts] the value outside their support
  std::vector<double> size;      // [parts] radius of the limb, in units
  double unit = 1;               // in the pose
};

struct Held {
  double move_share = -1;    // share of a move that is made; < 0: not projected
  double to_axis = 0;        // way inward to the axis
  double restore_share = 1;  // share of the longest restoring move
  bool spreads = true;       // false: moves of other points do not reach it
};

// Closed triangle meshes whose bind space is that of the bind pose.
//
//    part_of_binding  [E] -1 = none
//    posed            [V] result of the previous stages
//    held             [V] as bound, because roles follow the components of the mesh
std::vector<Vec3d> Project(const Rig& rig, const LimbDistances& limbs,
                           std::span<const std::int32_t> part_of_binding,
                           std::span<const Vec3d> posed, std::span<const Held> held, bool contact);

}  // namespace sinew::reference
