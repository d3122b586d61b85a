// limb_sequence.h - the canonical cylinder tracked through bends on its closed-form field.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/deform/engine/deformer.h"
#include "core/deform/engine/recipe_text.h"
#include "core/deform/implicit/track/tracking.h"
#include "tests/support/overlap.h"
#include "tests/support/rounded_limb.h"
#include "tests/support/run_method.h"
#include "tests/support/tube.h"

namespace sinew::testing {

// The bound data of a two-joint limb whose field is RoundedLimb.
inline SkinSurface LimbSurface(const Rig& rig, const BlockLayout& layout) {
  const std::array<AffineD, 2> still{};
  const RoundedLimb field{std::span<const AffineD>(still)};
  std::vector<std::int32_t> part_of_vertex;
  for (std::size_t v = 0; v < rig.vertices(); ++v) {
    part_of_vertex.push_back(rig.influences().bindings(v).front());
  }
  const Task task;
  return ValueOrDie(
      BindSkinSurface({rig, layout, RigSurface(rig, layout)}, part_of_vertex, field, task));
}

class LimbSequence {
 public:
  explicit LimbSequence(float attraction, RigSource source = CanonicalCylinderSource())
      : attraction_(attraction),
        rig_(MakeRig(std::move(source))),
        layout_(ValueOrDie(BlockLayout::Create(rig_))) {
    Task task;
    surface_ = LimbSurface(rig_, *layout_);
    const std::array<AffineD, 2> still{};
    const RoundedLimb field{std::span<const AffineD>(still)};
    inward_ = BindInward({rig_, *layout_, RigSurface(rig_, *layout_)}, surface_, field, task);
    absl::Status status = CheckFields("skin", surface_, layout_->Sizes(0));
    status.Update(surface_.Check());
    if (!status.ok()) {
      ValueOrDie<int>(status);
    }
    skin_.emplace(ValueOrDie(Deformer::Bind(rig_, *ParseRecipe("dqs"), task)));
    Begin();
  }

  const Rig& rig() const { return rig_; }
  const BlockLayout& layout() const { return *layout_; }
  const SkinSurface& surface() const { return surface_; }
  const std::vector<std::uint8_t>& vertex_status() const { return states_; }

  void Begin() {
    state_.assign(TrackingState(surface_.points()), 0.0f);
    begins_ = true;
    pose_ = RestPose(rig_);
  }

  // The previous stage's result for a pose.
  AlignedVector<PointBlock> Skinned(std::span<const Affine> pose) const {
    std::vector<Vec3f> points(rig_.vertices());
    FrameOut out{.positions = std::as_writable_bytes(std::span(points))};
    Workspace workspace;
    const Task task;
    const absl::Status status = skin_->Evaluate({.joints = pose}, out, workspace, nullptr, task);
    if (!status.ok()) ValueOrDie<int>(status);
    AlignedVector<PointBlock> blocks(layout_->blocks());
    for (std::size_t i = 0; i < layout_->order.size(); ++i) {
      const Vec3f& p = points[layout_->Vertex(i)];
      blocks[i / kLanes].x[i % kLanes] = p.x;
      blocks[i / kLanes].y[i % kLanes] = p.y;
      blocks[i / kLanes].z[i % kLanes] = p.z;
    }
    return blocks;
  }

  // One step to a pose. Returns positions in file order.
  std::vector<Vec3d> To(std::span<const Affine> pose) {
    const DenormalGuard guard;
    const RoundedLimb before{std::span<const AffineD>(SkinMatrices(rig_, pose_))};
    const RoundedLimb now{std::span<const AffineD>(SkinMatrices(rig_, pose))};
    const AlignedVector<PointBlock> skinned = Skinned(pose);
    AlignedVector<PointBlock> out(layout_->blocks());
    AlignedVector<float> scratch(TrackingScratch(surface_.points()));
    states_.assign(rig_.vertices(), 255);
    const PosedRigTables tables = PosedRigTables::Create(rig_, layout_->centre);
    PosedRigBuffer buffer, buffer_before;
    const PosedRig posed = buffer.Compute(tables, {.joints = pose, .controls = {}}, false);
    const PosedRig posed_before = buffer_before.Compute(tables, {.joints = pose_}, false);
    const Task task;
    Track(surface_, before, now, {.unit = 1, .attraction = attraction_, .inward = inward_},
          {.layout = *layout_,
           .posed = posed,
           .task = task,
           .scratch = scratch,
           .state = state_,
           .in_is_rest = false,
           .in = skinned,
           .out = out,
           .vertex_status = states_,
           .rest = layout_->rest,
           .before = &posed_before,
           .begins = begins_});
    begins_ = false;
    pose_.assign(pose.begin(), pose.end());
    return FileOrder(*layout_, out);
  }

  std::vector<Vec3d> Bend(double degrees) { return To(BendPose(rig_, degrees)); }

  OverlapVolumes Measure(std::span<const Vec3d> points) const {
    std::vector<std::array<std::uint32_t, 3>> triangles;
    const auto corners = rig_.mesh().face_vertices();
    for (std::size_t f = 0; f + 2 < corners.size(); f += 3) {
      triangles.push_back({corners[f], corners[f + 1], corners[f + 2]});
    }
    return MeasureOverlap(triangles, points);
  }

 private:
  const float attraction_;
  Rig rig_;
  std::shared_ptr<const BlockLayout> layout_;
  SkinSurface surface_;
  std::vector<float> inward_;
  bool begins_ = true;
  std::optional<Deformer> skin_;
  std::vector<Affine> pose_;
  std::vector<float> state_;
  std::vector<std::uint8_t> states_;
};

}  // namespace sinew::testing
