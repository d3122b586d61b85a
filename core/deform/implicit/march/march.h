// march.h - the projection of Vaillant et al. 2013: every point of posed skin marches along the
// gradient of all limbs' union until it has the value that it had at rest, or until the gradient
// turns, which means that another limb is met. The skin around such points is smoothed.
//
// The published field of a part falls from 1 inside to 0 where its support ends, has 1/2 on the
// skin, and is a monotone function of the part's distance; the composed field is the maximum over
// all parts. With one such function for all parts the maximum of the fields is the same function of
// the least distance f: level sets, directions of the gradient, signs and growth of the residual
// are equal, so the march runs on f itself. Published supports differ from part to part, which
// moves levels away from the skin, but not the skin.
//
// A step from x to y, with the level l and the gradient g of f, ends the march by the first
// condition that holds:
//
//    f(y) - l has another sign, or is 0   bisection between x and y            kFitted
//    no gradient at y                     stays at x                           kZeroGradient
//    cos(g(x), g(y)) < gradient_threshold bisection for where the cosine       kGradientDivergence
//                                         falls below, last point before it
//    |f(y) - l| > |f(x) - l|              stays at x, if potential_pit         kPotentialPit
//    max_iterations steps                 stays at y                           kIterationLimit
//
// Before the first step: no gradient, kZeroGradient; |f - l| below 1e-4, kNotDisplaced. Lengths are
// in units of the pose (PosedField::unit, the typical radius of a limb). As published, points do
// not know their own limb: one that starts inside another limb leaves it through its side, and two
// that meet different conditions end up far apart.
//
// Then the skin is smoothed around the points that met a limb or a pit. With b, 1 at these points
// and 0 elsewhere, and N, the cotangent weights at rest: six times b <- (b + N b) / 2; then in
// every pass, at all points at once, p <- p + b (N p - p).
//
// Source: Vaillant et al. 2013 and the authors' program, in which potential_pit is a switch and
// which has uniform weights; the authors recommend cotangent ones. Added: bisection where the
// gradient turns, since a whole step kept or given up leaves a gap or an overlap as long as it.
#pragma once

#include <absl/status/statusor.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/deform/implicit/field.h"
#include "core/deform/implicit/march/limb_union.h"
#include "core/deform/implicit/march/march_rules.h"
#include "core/deform/implicit/skin.h"
#include "core/deform/method/method.h"

namespace sinew {

struct March {
  MarchRules rules;
  std::vector<std::uint16_t> part;  // [P] with the least f at rest; kNoPart: excluded
  std::vector<float> level;         // [P] f at rest, units
  // N: cotangent weights of the neighbours at rest, never negative; no row for excluded points.
  std::vector<std::uint32_t> ring_offset = {0};  // [P + 1]
  std::vector<std::uint32_t> ring;               // points
  std::vector<float> ring_weight;                // a row sums to 1

  std::size_t points() const { return part.size(); }
  // Upper limits in bytes: of the tables, and of what binding holds in addition.
  static std::size_t BoundBytes(const Rig& rig);
  static std::size_t PassingBytes(const Rig& rig);
  // Points that are not skin (PointRole) and those without field or gradient at rest are excluded.
  // bind_pose: the field in the bind pose, with its muscles. rest: see PointsInBindPose.
  // kCancelled.
  static absl::StatusOr<March> Bind(const BindInput& input, const MarchRules& rules,
                                    const PosedField& bind_pose, const SkinSurface& skin,
                                    std::span<const Vec3d> rest, const Task& task);
  static std::size_t ScratchFloats(std::size_t points);
  // Reads frame.in, writes frame.out and, if requested, frame.vertex_status. The same bits for any
  // number of threads. Thread-safe. Finite for finite input. When the task is cancelled it returns
  // early with partial results.
  void Run(const SkinSurface& skin, const PosedField& posed, const StageFrame& frame) const;
  // The smoothing of Run.
  //
  //    at     [P][4] points, and b in the fourth component; 16-byte aligned
  //    spare  as `at`, contents undefined
  void Smooth(std::span<float> at, std::span<float> spare, const Task& task) const;

  template <class Self, class Visit>
  static void Fields(Self& self, Visit&& visit, const TableSizes& rig = {}) {
    const std::size_t points = self.points(), neighbours = self.ring.size();
    visit("march_max_iterations", self.rules.max_iterations, rule::Within{1, 1000});
    visit("march_gradient_threshold", self.rules.gradient_threshold, rule::Within{-1, 1});
    visit("march_step_length", self.rules.step_length, rule::Within{0.001, 1});
    visit("march_potential_pit", self.rules.potential_pit, rule::Any());
    visit("march_smoothing", self.rules.smoothing, rule::Within{0, 50});
    visit("march_part", self.part, rule::Size(points), rule::Below(rig.field_parts, kNoPart));
    visit("march_level", self.level, rule::Size(points), rule::Finite());
    visit("march_ring_offset", self.ring_offset, rule::Offsets(points, neighbours));
    visit("march_ring", self.ring, rule::Below(points));
    visit("march_ring_weight", self.ring_weight, rule::Size(neighbours), rule::Within{0, 1});
  }
};

}  // namespace sinew
