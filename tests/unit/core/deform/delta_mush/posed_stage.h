// posed_stage.h - Delta Mush after another stage, or on given points.
#pragma once

#include <span>
#include <vector>

#include "core/deform/delta_mush/delta_mush.h"
#include "tests/support/run_method.h"

namespace sinew::testing {

// Runs a bound stage on posed points in file order.
inline std::vector<Vec3d> RunMush(const Rig& rig, const BlockLayout& layout, const DeltaMush& mush,
                                  std::span<const Affine> pose, std::span<const PointBlock> in) {
  const PosedRigTables tables = PosedRigTables::Create(rig, layout.centre);
  PosedRigBuffer buffer;
  const PosedRig posed = buffer.Compute(tables, {.joints = pose}, true);
  return FileOrder(layout, RunBound(mush, layout, posed, in));
}

inline DeltaMush BindMush(const Rig& rig, const BlockLayout& layout,
                          const DeltaMushParams& params) {
  Task task;
  const DeltaMush mush =
      ValueOrDie(DeltaMush::Bind({rig, layout, RigSurface(rig, layout)}, params, task));
  if (const absl::Status status = mush.Check(layout, rig.bindings().size()); !status.ok()) {
    ValueOrDie<int>(status);
  }
  return mush;
}

// Delta Mush of given posed points, [V] in file order.
inline std::vector<Vec3d> MushOf(const Rig& rig, const DeltaMushParams& params,
                                 std::span<const Affine> pose, std::span<const Vec3d> posed) {
  const auto layout = ValueOrDie(BlockLayout::Create(rig));
  AlignedVector<PointBlock> in(layout->blocks());
  for (std::size_t i = 0; i < layout->order.size(); ++i) {
    const Vec3f p = ToFloat(posed[layout->Vertex(i)]);
    in[i / kLanes].x[i % kLanes] = p.x;
    in[i / kLanes].y[i % kLanes] = p.y;
    in[i / kLanes].z[i % kLanes] = p.z;
  }
  return RunMush(rig, *layout, BindMush(rig, *layout, params), pose, in);
}

// The nearest rotation of each vertex's strongest joint.
inline std::vector<Mat3d> PivotRotations(const Rig& rig, std::span<const AffineD> skin,
                                         Mat3d (*rotation)(const Mat3d&)) {
  std::vector<Mat3d> turn;
  for (std::size_t v = 0; v < rig.vertices(); ++v) {
    turn.push_back(rotation(Linear(skin[rig.influences().bindings(v).front()])));
  }
  return turn;
}

}  // namespace sinew::testing
