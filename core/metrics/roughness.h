// roughness.h - how unevenly neighbouring points move: ledges, tears and dents.
//
// The roughness of an edge (i, j) is
//
//    |D_i - D_j| / (s |x_i - x_j|)
//
// x is a point at rest. D is its posed position less that by `dqs` with its defaults in the same
// pose, both in model space: the displacement that the stages after it add. s is the scale of the
// pose at the edge: the largest |M| / sqrt(3) of the bindings of its ends, where M is the linear
// part of a skin matrix and |M| its Frobenius norm. Edges are those of polygons between welded
// points, so a seam counts as closed.
//
// It is the derivative of D along the edge, without a paper of its own. The base is the same for
// all recipes, so that a figure does not depend on what else is compared, and it is as smooth as
// the weights. `dqs` has 0, as has all skin that moves with one joint. Of recipes that correct
// `dqs`, smooth displacements have .3 to 1 (`bulge_free`); where skin meets skin and creases,
// neighbours part by about their distance, so 1; ledges have 2 and more. A method that blends
// joints in another way also has its difference from `dqs`: smooth, but up to 1.6 for `lbs` on a
// cylinder bent by 150 degrees. What is rough in dual quaternions themselves, such as the effect of
// rough weights, does not show.
//
// Rounding of float32 positions would dominate short edges. Those of at most 1e-5 of the diagonal,
// scaled by s over the largest s, are left out; above, rounding alone is below .03 while the
// character is within its diagonal of the origin. This also leaves out what is scaled to zero.
#pragma once

#include <absl/status/statusor.h>

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "core/deform/engine/deformer.h"
#include "core/metrics/surface.h"
#include "core/parallel/task.h"
#include "core/rig/rig.h"

namespace sinew::metrics {

class Roughness {
 public:
  // The arguments but the task must outlive it. Binds `dqs`, whose progress the task has.
  // kCancelled.
  static absl::StatusOr<Roughness> Create(const Rig& rig, const Surface& surface, Task& task);
  // Upper estimate of the bytes it needs, also while it is created.
  static std::size_t Cost(const Rig& rig);

  struct Figures {
    double largest = 0, percentile_999 = 0;  // over the edges
    double above_one = 0;                    // share of the edges
  };
  // points: [P] posed; joints: [J] the pose, joint to model; skin: [E] bind space to posed model
  // space. Absent: no edge counts, or `dqs` overflows. Thread-safe; the same bits for any number of
  // threads. kCancelled.
  absl::StatusOr<std::optional<Figures>> Measure(std::span<const Vec3d> points,
                                                 std::span<const Affine> joints,
                                                 std::span<const AffineD> skin,
                                                 const Task& task) const;

 private:
  Roughness(const Rig& rig, const Surface& surface, Deformer base)
      : rig_(&rig), surface_(&surface), base_(std::move(base)) {}
  // [P] s of a point.
  std::vector<double> Scales(std::span<const AffineD> skin, const Task& task) const;

  const Rig* rig_;
  const Surface* surface_;
  Deformer base_;
};

}  // namespace sinew::metrics
