// run_method.h - binds one method to a rig and runs it on a pose.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "core/base/aligned.h"
#include "core/base/types.h"
#include "core/deform/method/method.h"
#include "core/parallel/task.h"
#include "core/rig/layout.h"
#include "core/rig/posed_rig.h"
#include "core/rig/rig.h"
#include "core/surface/rig_surface.h"
#include "tests/support/compare.h"

namespace sinew::testing {

struct PosedMesh {
  std::shared_ptr<const BlockLayout> layout;
  AlignedVector<PointBlock> blocks;
  std::vector<Affine> skin;   // [E] as in PosedRig
  std::vector<float> signs;   // [E] as in PosedRig
  std::vector<Vec3d> points;  // [V] the blocks in file order

  PosedRig rig() const {
    PosedRig posed;
    posed.skin = skin;
    posed.signs = signs;
    return posed;
  }
};

inline std::vector<Vec3d> FileOrder(const BlockLayout& layout, std::span<const PointBlock> blocks) {
  std::vector<Vec3d> points;
  for (const std::uint32_t lane : layout.lane) {
    const PointBlock& block = blocks[lane / kLanes];
    points.push_back({block.x[lane % kLanes], block.y[lane % kLanes], block.z[lane % kLanes]});
  }
  return points;
}

template <class T>
T ValueOrDie(absl::StatusOr<T> value) {
  if (!value.ok()) {
    std::fprintf(stderr, "test: %s\n", value.status().ToString().c_str());
    std::abort();
  }
  return *std::move(value);
}

template <class M>
PosedMesh RunMethod(const Rig& rig, const typename M::Params& params,
                    std::span<const Affine> pose) {
  PosedMesh mesh;
  mesh.layout = ValueOrDie(BlockLayout::Create(rig));
  Task task;
  const M method =
      ValueOrDie(M::Bind({rig, *mesh.layout, RigSurface(rig, *mesh.layout)}, params, task));
  if (const absl::Status status = method.Check(*mesh.layout, rig.bindings().size()); !status.ok()) {
    ValueOrDie<int>(status);
  }
  const PosedRigTables tables = PosedRigTables::Create(rig, mesh.layout->centre);
  PosedRigBuffer buffer;
  const DenormalGuard guard;
  const PosedRig posed = buffer.Compute(tables, {.joints = pose}, true);
  mesh.skin.assign(posed.skin.begin(), posed.skin.end());
  mesh.signs.assign(posed.signs.begin(), posed.signs.end());
  mesh.blocks.resize(mesh.layout->blocks());
  AlignedVector<float> scratch(method.Facts().scratch_floats);
  method.Run({.layout = *mesh.layout,
              .posed = posed,
              .task = task,
              .scratch = scratch,
              .in_is_rest = true,
              .in = mesh.layout->rest,
              .out = mesh.blocks,
              .rest = mesh.layout->rest});
  mesh.points = FileOrder(*mesh.layout, mesh.blocks);
  return mesh;
}

// Runs a bound method on posed blocks; also writes `states` ([V] or empty).
template <class M>
AlignedVector<PointBlock> RunBound(const M& method, const BlockLayout& layout,
                                   const PosedRig& posed, std::span<const PointBlock> in,
                                   std::span<std::uint8_t> vertex_status = {},
                                   const Task& task = Task()) {
  const DenormalGuard guard;
  AlignedVector<PointBlock> out(in.size());
  AlignedVector<float> scratch(method.Facts().scratch_floats);
  method.Run({.layout = layout,
              .posed = posed,
              .task = task,
              .scratch = scratch,
              .in_is_rest = false,
              .in = in,
              .out = out,
              .vertex_status = vertex_status});
  return out;
}

// Rest positions of a rig's vertices.
inline std::vector<Vec3d> RestPoints(const Rig& rig) {
  std::vector<Vec3d> points;
  for (const Vec3f& p : rig.mesh().positions()) points.push_back(ToDouble(p));
  return points;
}

// Largest distance between corresponding points; infinite if a value is not finite or the counts
// differ.
inline double MaxDistance(std::span<const Vec3d> a, std::span<const Vec3d> b) {
  if (a.size() != b.size()) return HUGE_VAL;
  double largest = 0;
  for (std::size_t v = 0; v < a.size(); ++v) {
    const double d = Distance(a[v], b[v]);
    if (!(d <= largest)) largest = std::isnan(d) ? HUGE_VAL : d;
  }
  return largest;
}

}  // namespace sinew::testing
