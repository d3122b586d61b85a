// march_limb.h - marches a rig on a given field, in production code and in the reference.
#pragma once

#include <algorithm>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "core/deform/implicit/march/march.h"
#include "core/deform/method/vertex_status.h"
#include "tests/reference/march_reference.h"
#include "tests/support/run_method.h"

namespace sinew::testing {

struct MarchRun {
  AlignedVector<PointBlock> in, out;
  std::vector<Vec3d> start, points;         // [V]
  std::vector<std::uint8_t> vertex_status;  // [V]

  std::size_t Count(VertexStatus status) const {
    return static_cast<std::size_t>(
        std::ranges::count(vertex_status, static_cast<std::uint8_t>(status)));
  }
};

class MarchLimb {
 public:
  // rest: the field in the bind pose. Every vertex has a part.
  MarchLimb(Rig rig, const PosedField& rest, const MarchRules& rules = {})
      : rig_(std::move(rig)), layout_(ValueOrDie(BlockLayout::Create(rig_))) {
    const Task task;
    const RigSurface surface(rig_, *layout_);
    const BindInput input = {rig_, *layout_, surface};
    const std::vector<std::int32_t> parts(rig_.vertices(), 0);
    skin_ = ValueOrDie(BindSkinSurface(input, parts, task));
    march_ =
        ValueOrDie(March::Bind(input, rules, rest, skin_, PointsInBindPose(input, skin_), task));
    TableSizes sizes = layout_->Sizes(0);
    sizes.field_parts = rest.PartFrames().size();
    if (const auto status = CheckFields("march", march_, sizes); !status.ok()) {
      ValueOrDie<int>(status);
    }
  }

  const Rig& rig() const { return rig_; }
  const BlockLayout& layout() const { return *layout_; }
  const March& march() const { return march_; }
  std::uint32_t PointOf(std::size_t v) const { return skin_.lane_point[layout_->lane[v]]; }

  MarchRun RunOn(std::span<const PointBlock> in, const PosedField& field,
                 const Task& task = Task()) const {
    MarchRun run;
    run.in.assign(in.begin(), in.end());
    run.vertex_status.resize(rig_.vertices());
    run.out =
        RunBound(Stage{march_, skin_, field}, *layout_, PosedRig(), in, run.vertex_status, task);
    run.start = FileOrder(*layout_, run.in);
    run.points = FileOrder(*layout_, run.out);
    return run;
  }
  // After a method with its defaults.
  template <class Method>
  MarchRun Run(std::span<const Affine> pose, const PosedField& field) const {
    return RunOn(RunMethod<Method>(rig_, {}, pose).blocks, field);
  }
  reference::Marched Reference(const reference::LimbDistances& limbs,
                               std::span<const Vec3d> start) const {
    std::vector<bool> skin;
    for (std::size_t v = 0; v < rig_.vertices(); ++v) skin.push_back(skin_.IsSkin(PointOf(v)));
    return reference::MarchToRest(rig_, limbs, march_.rules, start, skin);
  }

 private:
  struct Stage {
    const March& march;
    const SkinSurface& skin;
    const PosedField& field;
    StageFacts Facts() const {
      return {.method = "march",
              .in = Space::kPosed,
              .out = Space::kPosed,
              .pointwise = false,
              .scratch_floats = March::ScratchFloats(skin.points())};
    }
    void Run(const StageFrame& frame) const { march.Run(skin, field, frame); }
  };

  Rig rig_;
  std::shared_ptr<const BlockLayout> layout_;
  SkinSurface skin_;
  March march_;
};

}  // namespace sinew::testing
