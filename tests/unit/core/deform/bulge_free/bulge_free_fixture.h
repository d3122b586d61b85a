// bulge_free_fixture.h - a skinning stage followed by bulge_free.
#pragma once

#include <vector>

#include "core/deform/bulge_free/bulge_free.h"
#include "core/deform/dqs/dqs.h"
#include "tests/support/run_method.h"
#include "tests/support/tube.h"

namespace sinew::testing {

// The tube with a joint at its end, so that its last bone has a length.
inline RigSource EndedTubeSource(const TubeOptions& options = {}) {
  RigSource source = TubeSource(options);
  const double step = options.length / static_cast<double>(options.joints);
  source.joints.push_back(
      {.name = "end", .parent = static_cast<std::uint32_t>(options.joints - 1)});
  source.rest_local.push_back({{1, 0, 0, step, 0, 1, 0, 0, 0, 0, 1, 0}});
  return source;
}

inline Rig EndedTube(const TubeOptions& options = {}) {
  return MakeRig(EndedTubeSource(options));
}

// Runs bulge_free on points that `before` skinned from `rest` (default: the rig's).
inline std::vector<Vec3d> Correct(const Rig& rig, const BulgeFreeParams& params,
                                  std::span<const Affine> pose, const PosedMesh& before,
                                  std::span<const PointBlock> rest = {}) {
  Task task;
  const BlockLayout& layout = *before.layout;
  const BulgeFree method =
      ValueOrDie(BulgeFree::Bind({rig, layout, RigSurface(rig, layout)}, params, task));
  if (const absl::Status status = method.Check(layout, rig.bindings().size()); !status.ok()) {
    ValueOrDie<int>(status);
  }
  const PosedRigTables tables = PosedRigTables::Create(rig, layout.centre);
  PosedRigBuffer buffer;
  const DenormalGuard guard;
  AlignedVector<float> scratch(method.Facts().scratch_floats);
  AlignedVector<PointBlock> blocks = before.blocks;
  method.Run({.layout = layout,
              .posed = buffer.Compute(tables, {.joints = pose}, method.Facts().rotations),
              .task = task,
              .scratch = scratch,
              .in_is_rest = false,
              .in = blocks,
              .out = blocks,
              .rest = rest.empty() ? std::span<const PointBlock>(layout.rest) : rest});
  return FileOrder(layout, blocks);
}

// `dqs | bulge_free`.
inline std::vector<Vec3d> DqsCorrected(const Rig& rig, const BulgeFreeParams& params,
                                       std::span<const Affine> pose) {
  return Correct(rig, params, pose, RunMethod<Dqs>(rig, {}, pose));
}

}  // namespace sinew::testing
