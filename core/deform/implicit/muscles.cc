#include "core/deform/implicit/muscles.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/status.h"
#include "core/deform/implicit/constants.h"
#include "core/surface/muscle_footprint.h"

namespace sinew {
namespace {

constexpr double kVertexWork = 30;  // nanoseconds per vertex and muscle

Vec3f Rounded(const Vec3d& v, float towards) {
  const auto round = [&](double value) {
    return std::nextafter(static_cast<float>(value), towards);
  };
  return {round(v.x), round(v.y), round(v.z)};
}

// The part of the joint or of its nearest ancestor that has one, or -1.
std::int32_t PartOf(const Rig& rig, const LimbField& limbs, std::uint32_t joint) {
  for (; joint != kNoParent; joint = rig.skeleton().joint(joint).parent) {
    const auto found = std::ranges::find(limbs.joints(), joint);
    if (found != limbs.joints().end()) {
      return static_cast<std::int32_t>(found - limbs.joints().begin());
    }
  }
  return -1;
}

bool LiesInside(const PosedLimbField& limbs, const Vec3f& at) {
  DistanceNeed all;
  all.margin.fill(std::numeric_limits<float>::infinity());
  if (limbs.PartFrames().empty()) return false;
  const PartBlocks parts = limbs.Distances(BlockOf(1, [&](std::size_t) { return at; }), all);
  return std::ranges::any_of(parts, [&](const PartBlock& part) {
    return part.value[0] < kMuscleOutside * limbs.Size(part.part);
  });
}

}  // namespace

std::size_t MuscleField::CostBytes(const Rig& rig) {
  if (rig.muscles().empty()) return 0;
  const MuscleTables& tables = rig.muscle_tables();
  return rig.vertices() * 64 + rig.bindings().size() * 2 * sizeof(AffineD) +
         tables.rows.size() * (2 * sizeof(MuscleRow) + 64) +
         2 * tables.points.size() * sizeof(MusclePointRow) + 16384;
}

double MuscleField::Work(const Rig& rig) {
  return kVertexWork * static_cast<double>(rig.vertices()) *
         static_cast<double>(rig.muscles().size());
}

absl::StatusOr<MuscleField> MuscleField::Bind(const Rig& rig, const LimbField& limbs, Task& task) {
  MuscleField field;
  if (rig.muscles().empty()) return field;
  field.tables_ = rig.muscle_tables();
  const BindPoseSkin skin = MakeBindPoseSkin(rig);
  const PosedLimbField posed(limbs);
  for (std::size_t m = 0; m < rig.muscles().size(); ++m) {
    SINEW_RETURN_IF_ERROR(task.CheckCancelled());
    const MuscleFootprint footprint = MakeFootprint(rig, skin, m);
    const std::int32_t part = LiesInside(posed, ToFloat(Translation(footprint.bound.frame)))
                                  ? PartOf(rig, limbs, rig.muscles()[m].origin.joint)
                                  : -1;
    field.part_.push_back(part);
    field.reach_.push_back(part < 0 ? limbs.unit() : limbs.reach(static_cast<std::size_t>(part)));
    field.fat_.push_back(footprint.fat);
    task.Advance(kVertexWork * static_cast<double>(rig.vertices()));
  }
  return field;
}

std::size_t MuscleField::without_field() const {
  return static_cast<std::size_t>(std::ranges::count(part_, -1));
}

std::vector<MusclePrimitive> MuscleField::Pose(const PosedRig& posed) const {
  constexpr float kInfinite = std::numeric_limits<float>::infinity();
  std::vector<MusclePrimitive> primitives;
  for (std::size_t m = 0; m < muscles(); ++m) {
    if (part_[m] < 0) continue;
    const MuscleState state = PoseMuscle(tables_, m, posed.joints, posed.controls);
    MusclePrimitive& primitive = primitives.emplace_back();
    primitive.shape = MakeMuscleShape(tables_.rows[m], state);
    primitive.fat = fat_[m] * state.scale;
    primitive.reach = reach_[m] * state.scale;
    primitive.part = static_cast<std::uint32_t>(part_[m]);
    const MuscleBox box = BoxBelow(primitive.shape, primitive.reach + primitive.fat);
    primitive.minimum = Rounded(box.low, -kInfinite);
    primitive.maximum = Rounded(box.high, kInfinite);
  }
  return primitives;
}

}  // namespace sinew
