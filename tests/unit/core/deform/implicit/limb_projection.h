// limb_projection.h - projects the canonical cylinder, or any rig, on a given field, and measures
// the result.
#pragma once

#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "core/deform/dqs/dqs.h"
#include "core/deform/implicit/project/level_skin.h"
#include "core/deform/implicit/project/move_smoothing.h"
#include "core/deform/implicit/project/projection.h"
#include "core/deform/implicit/skin.h"
#include "core/deform/lbs/lbs.h"
#include "core/deform/method/vertex_status.h"
#include "tests/reference/implicit_reference.h"
#include "tests/support/rounded_limb.h"
#include "tests/support/run_method.h"
#include "tests/support/tube.h"

namespace sinew::testing {

struct Projected {
  std::vector<Vec3d> start, points;         // [V]
  std::vector<std::uint8_t> vertex_status;  // [V]
  AlignedVector<PointBlock> in, out;        // blocks
  ProjectionCounts counts;

  std::size_t Count(VertexStatus state) const {
    return static_cast<std::size_t>(
        std::ranges::count(vertex_status, static_cast<std::uint8_t>(state)));
  }
};

// The part of a vertex's strongest binding.
inline std::vector<std::int32_t> StrongestParts(const Rig& rig) {
  std::vector<std::int32_t> parts;
  for (std::size_t v = 0; v < rig.vertices(); ++v) {
    parts.push_back(rig.influences().bindings(v).front());
  }
  return parts;
}

// Projection alone, as a bound method.
struct Projection {
  const LevelSkin& level;
  const MoveRings& rings;
  const SkinSurface& skin;
  const PosedField &bind_pose, &field;
  bool contact;
  ProjectionCounts& counts;

  StageFacts Facts() const {
    return {.method = "projection",
            .in = Space::kPosed,
            .out = Space::kPosed,
            .pointwise = false,
            .scratch_floats = ProjectionScratch(skin.points())};
  }
  void Run(const StageFrame& frame) const {
    Project({level, rings, skin, bind_pose.PartFrames(), field, contact}, frame, &counts);
  }
};

class LimbProjection {
 public:
  // Each binding has the part of its number. rest: outlives it.
  LimbProjection(Rig rig, const PosedField& rest)
      : rig_(std::move(rig)), layout_(ValueOrDie(BlockLayout::Create(rig_))), rest_(rest) {
    Task task;
    const RigSurface surface(rig_, *layout_);
    const BindInput input = {rig_, *layout_, surface};
    skin_ = ValueOrDie(BindSkinSurface(input, StrongestParts(rig_), task));
    for (std::size_t b = 0; b < rig_.bindings().size(); ++b) {
      part_of_binding_.push_back(static_cast<std::int32_t>(b));
    }
    const std::vector<Vec3d> points = PointsInBindPose(input, skin_);
    level_ = ValueOrDie(BindLevelSkin(input, part_of_binding_, rest, skin_, points, task));
    rings_ = BindMoveRings(input, level_, rest, skin_, points);
    TableSizes sizes = layout_->Sizes(0);
    sizes.field_parts = rest.PartFrames().size();
    absl::Status status = CheckFields("skin", skin_, sizes);
    status.Update(CheckFields("level", level_, sizes));
    status.Update(CheckFields("rings", rings_, sizes));
    status.Update(skin_.Check());
    if (!status.ok()) ValueOrDie<int>(status);
  }
  // Replaces the table by of(p).
  void SetAlone(const std::function<float(std::size_t)>& of) {
    for (std::size_t p = 0; p < level_.points(); ++p) level_.restore_share[p] = of(p);
  }
  const Rig& rig() const { return rig_; }
  const SkinSurface& skin() const { return skin_; }
  const LevelSkin& level() const { return level_; }
  const MoveRings& rings() const { return rings_; }
  std::span<const std::int32_t> part_of_binding() const { return part_of_binding_; }
  const BlockLayout& layout() const { return *layout_; }

  Projected RunOn(std::span<const PointBlock> in, const PosedField& field, bool contact = true,
                  const Task& task = Task()) const {
    Projected result;
    result.in.assign(in.begin(), in.end());
    result.vertex_status.resize(rig_.vertices());
    result.out = RunBound(Projection{level_, rings_, skin_, rest_, field, contact, result.counts},
                          *layout_, PosedRig(), in, result.vertex_status, task);
    result.start = FileOrder(*layout_, result.in);
    result.points = FileOrder(*layout_, result.out);
    return result;
  }
  // After a method with its defaults.
  template <class Method>
  Projected Run(std::span<const Affine> pose, const PosedField& field, bool contact = true) const {
    return RunOn(RunMethod<Method>(rig_, {}, pose).blocks, field, contact);
  }

 private:
  Rig rig_;
  std::shared_ptr<const BlockLayout> layout_;
  const PosedField& rest_;
  SkinSurface skin_;
  LevelSkin level_;
  MoveRings rings_;
  std::vector<std::int32_t> part_of_binding_;
};

// [V]
inline std::vector<reference::Held> HeldOf(const SkinSurface& skin, const LevelSkin& level,
                                           const MoveRings& rings, const BlockLayout& layout) {
  std::vector<reference::Held> held;
  for (const std::uint32_t lane : layout.lane) {
    const std::uint32_t p = skin.lane_point[lane];
    held.push_back({.move_share = skin.IsSkin(p) ? double{level.move_share[p]} : -1,
                    .to_axis = double{level.to_axis[p]},
                    .restore_share = double{level.restore_share[p]},
                    .spreads = rings.spacing[p] > 0});
  }
  return held;
}

// The reference in double, from given starts. rest: the limb's field at bind.
inline std::vector<Vec3d> ReferenceOf(const LimbProjection& limb, const RoundedLimb& rest,
                                      std::span<const Affine> pose, std::span<const Vec3d> starts,
                                      bool contact = true) {
  const auto motions = SkinMatrices(limb.rig(), pose);
  const RoundedLimb posed{std::span<const AffineD>(motions)};
  const auto of = [](const RoundedLimb& field) {
    return [&field](std::size_t part, const Vec3d& x) {
      const FieldSample sample = field.DistanceOf(part, x);
      return reference::FieldValue{sample.value, sample.gradient};
    };
  };
  reference::LimbDistances limbs;
  limbs.bind = of(rest);
  limbs.posed = of(posed);
  limbs.trust = [&rest](std::size_t part, const Vec3d& x) {
    return double{rest.Trust(static_cast<std::uint32_t>(part), ToFloat(x))};
  };
  limbs.from_bone = [&rest](std::size_t part, const Vec3d& x) {
    return Length(ToDouble(rest.FromBone(static_cast<std::uint32_t>(part), ToFloat(x))));
  };
  limbs.reach = limbs.size = {1, 1};
  limbs.centre = {{-2.5, 0, 0}, {2.5, 0, 0}};
  limbs.motions.assign(motions.begin(), motions.end());
  const auto held = HeldOf(limb.skin(), limb.level(), limb.rings(), limb.layout());
  return reference::Project(limb.rig(), limbs, limb.part_of_binding(), starts, held, contact);
}

}  // namespace sinew::testing
