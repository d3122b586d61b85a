// bound_ddm.h - a bound Direct Delta Mush with everything needed to run it.
#pragma once

#include <array>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "core/deform/ddm/ddm.h"
#include "core/deform/ddm/ddm_kernel.h"
#include "tests/support/run_method.h"
#include "tests/support/small_rigs.h"
#include "tests/support/tube.h"

namespace sinew::testing {

// Parameters as published, without truncation: for comparison with formulas.
inline DdmParams ExactParams(float lambda = 4, std::uint32_t iterations = 4) {
  DdmParams params;
  params.lambda = lambda;
  params.iterations = iterations;
  params.truncation = 0;
  params.pop_guard = false;
  params.laplacian = Laplacian::kUniform;
  params.keep_area = 0;
  return params;
}

class BoundDdm {
 public:
  explicit BoundDdm(const Rig& rig, const DdmParams& params = {},
                    const DdmBindOptions& options = {}, bool parallel = true)
      : rig_(rig), task_({.parallel = parallel}) {
    layout_ = ValueOrDie(BlockLayout::Create(rig));
    tables_ = ValueOrDie(
        DdmTables::Bind({rig, *layout_, RigSurface(rig, *layout_)}, params, options, task_));
    if (const auto status = tables_.Check(*layout_, rig.bindings().size(), false); !status.ok()) {
      ValueOrDie<int>(status);
    }
  }

  // Posed blocks. `in`: displaced rest points, or empty.
  AlignedVector<PointBlock> RunBlocks(std::span<const Affine> pose, bool enhanced = false,
                                      std::span<const PointBlock> in = {}) const {
    const DenormalGuard guard;
    PosedRigBuffer buffer;
    const PosedRigTables posed_tables = PosedRigTables::Create(rig_, layout_->centre);
    const PosedRig posed = buffer.Compute(posed_tables, {.joints = pose}, true);
    AlignedVector<PointBlock> out(layout_->blocks());
    AlignedVector<float> scratch(tables_.Facts("ddm", enhanced).scratch_floats);
    tables_.Run({.layout = *layout_,
                 .posed = posed,
                 .task = task_,
                 .scratch = scratch,
                 .in_is_rest = in.empty(),
                 .in = in.empty() ? std::span<const PointBlock>(layout_->rest) : in,
                 .out = out},
                enhanced);
    return out;
  }

  std::vector<Vec3d> Run(std::span<const Affine> pose, bool enhanced = false) const {
    return FileOrder(*layout_, RunBlocks(pose, enhanced));
  }

  // A field (of variants 0 and 1) of every binding at a vertex, 0 without a row; float.
  std::vector<double> Field(std::size_t vertex, DdmField field) const {
    std::vector<double> values(rig_.bindings().size(), 0.0);
    const std::size_t block = layout_->lane[vertex] / kLanes, lane = layout_->lane[vertex] % kLanes;
    for (std::uint32_t k = tables_.joints.offset[block]; k < tables_.joints.offset[block + 1];
         ++k) {
      values[tables_.joints.entry[k]] =
          tables_.moments[tables_.Place(k, static_cast<std::size_t>(field)) + lane];
    }
    return values;
  }

  const Rig& rig() const { return rig_; }
  const BlockLayout& layout() const { return *layout_; }
  const DdmTables& tables() const { return tables_; }

 private:
  const Rig& rig_;
  Task task_;
  std::shared_ptr<const BlockLayout> layout_;
  DdmTables tables_;
};

// Flat square of n x n vertices in the xy plane, bound to one joint.
inline RigSource GridSource(std::uint32_t n) {
  std::vector<Vec3f> positions;
  std::vector<std::vector<std::uint32_t>> faces;
  for (std::uint32_t i = 0; i < n; ++i) {
    for (std::uint32_t k = 0; k < n; ++k) {
      positions.push_back({static_cast<float>(i), static_cast<float>(k), 0});
      if (i + 1 < n && k + 1 < n) {
        const std::uint32_t v = i * n + k;
        faces.push_back({v, v + n, v + n + 1, v + 1});
      }
    }
  }
  return RigidSource(std::move(positions), faces);
}

}  // namespace sinew::testing
