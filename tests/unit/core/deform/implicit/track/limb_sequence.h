// limb_sequence.h - the canonical cylinder tracked through bends on its closed-form field.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <vector>

#include "core/deform/engine/deformer.h"
#include "core/deform/engine/recipe_text.h"
#include "core/deform/implicit/track/tracking.h"
#include "tests/unit/core/deform/implicit/limb_figures.h"
#include "tests/unit/core/deform/implicit/limb_projection.h"

namespace sinew::testing {

class LimbSequence {
 public:
  explicit LimbSequence(RigSource source = CanonicalCylinderSource())
      : limb_(MakeRig(std::move(source)), rest_) {
    Task task;
    dqs_.emplace(ValueOrDie(Deformer::Bind(rig(), *ParseRecipe("dqs"), task)));
    Begin();
  }

  const LimbProjection& limb() const { return limb_; }
  const RoundedLimb& rest() const { return rest_; }
  const Rig& rig() const { return limb_.rig(); }
  const BlockLayout& layout() const { return limb_.layout(); }
  const SkinSurface& surface() const { return limb_.skin(); }
  const std::vector<std::uint8_t>& vertex_status() const { return states_; }

  void Begin() {
    state_.assign(TrackingState(surface().points()), 0.0f);
    begins_ = true;
    pose_ = RestPose(rig());
  }

  // The previous stage's result for a pose.
  AlignedVector<PointBlock> Skinned(std::span<const Affine> pose) const {
    std::vector<Vec3f> points(rig().vertices());
    FrameOut out{.positions = std::as_writable_bytes(std::span(points))};
    Workspace workspace;
    const Task task;
    const absl::Status status = dqs_->Evaluate({.joints = pose}, out, workspace, nullptr, task);
    if (!status.ok()) ValueOrDie<int>(status);
    AlignedVector<PointBlock> blocks(layout().blocks());
    for (std::size_t i = 0; i < layout().order.size(); ++i) {
      const Vec3f& p = points[layout().Vertex(i)];
      blocks[i / kLanes].x[i % kLanes] = p.x;
      blocks[i / kLanes].y[i % kLanes] = p.y;
      blocks[i / kLanes].z[i % kLanes] = p.z;
    }
    return blocks;
  }

  // One step to a pose. Returns positions in file order.
  std::vector<Vec3d> To(std::span<const Affine> pose) {
    const DenormalGuard guard;
    const RoundedLimb before{std::span<const AffineD>(SkinMatrices(rig(), pose_))};
    const RoundedLimb now{std::span<const AffineD>(SkinMatrices(rig(), pose))};
    const AlignedVector<PointBlock> skinned = Skinned(pose);
    AlignedVector<PointBlock> out(layout().blocks());
    AlignedVector<float> scratch(ProjectionScratch(surface().points()));
    states_.assign(rig().vertices(), 255);
    const PosedRigTables tables = PosedRigTables::Create(rig(), layout().centre);
    PosedRigBuffer buffer, buffer_before;
    const PosedRig posed = buffer.Compute(tables, {.joints = pose, .controls = {}}, false);
    const PosedRig posed_before = buffer_before.Compute(tables, {.joints = pose_}, false);
    const Task task;
    const std::vector<Mat3d> turns = TurnsOf(rest_.PartFrames(), now.PartFrames());
    Track({limb_.level(), surface(), rest_.PartFrames(), turns, now}, before, std::array{-1, 0},
          {.layout = layout(),
           .posed = posed,
           .task = task,
           .scratch = scratch,
           .state = state_,
           .in_is_rest = false,
           .in = skinned,
           .out = out,
           .vertex_status = states_,
           .rest = layout().rest,
           .before = &posed_before,
           .begins = begins_});
    begins_ = false;
    pose_.assign(pose.begin(), pose.end());
    return FileOrder(layout(), out);
  }

  std::vector<Vec3d> Bend(double degrees) { return To(BendPose(rig(), degrees)); }

  OverlapVolumes Measure(std::span<const Vec3d> points) const {
    return MeasureOverlap(TrianglesOf(rig().mesh()), points);
  }

 private:
  const RoundedLimb rest_{std::array<AffineD, 2>{}};
  LimbProjection limb_;
  bool begins_ = true;
  std::optional<Deformer> dqs_;
  std::vector<Affine> pose_;
  std::vector<float> state_;
  std::vector<std::uint8_t> states_;
};

}  // namespace sinew::testing
