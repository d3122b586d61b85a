// dqs.h - dual quaternion skinning: blends rigid motions instead of matrices, so twisted joints
// keep their volume.
//
// Joints that scale or shear keep their rotation in the quaternion and give what is left, (M - R)
// u, to the translation of that one vertex. A motion common to all joints is therefore exact,
// whatever it is. Source: Kavan et al. 2008.
//
// q and -q are the same rotation, so each vertex must choose which of the two it adds (`signs`):
// - strongest: the one on the side of its strongest joint. Right for any two joints, however far
//   apart: the shorter way round. Three joints can contradict each other, though (a.b < 0, b.c < 0,
//   c.a < 0, as when each of two twist joints adds 120 degrees): then neighbours whose strongest
//   joints differ are blended differently and the surface tears where the strongest changes.
// - parent: each joint takes the side of its nearest ancestor that moves vertices, once per pose.
//   All vertices agree, so the surface stays whole as long as every joint is within 180 degrees of
//   its parent: better for chains of twist joints and long spines. Joints farther apart than that
//   in sum blend the long way round, which between a vertex's joints approaches a full turn only
//   in error (then strongest takes over, with a jump).
// Either way only relative rotations count: turning the root changes nothing.
#pragma once

#include "core/deform/method/method.h"
#include "core/rig/weight_table.h"

namespace sinew {

struct Dqs {
  using Params = DqsParams;
  static constexpr int kVersion = 3;
  static constexpr std::string_view kSummary =
      "Dual quaternions: twists keep their volume; bent joints bulge a little.";
  static constexpr std::string_view kPaper = "Kavan, Collins, Zara, O'Sullivan 2008";
  static constexpr std::string_view kCostClass = "2 x";

  WeightTable table;
  std::uint32_t bindings = 0;
  float blend = 1;
  // [B][16], blend * blend_map within [0, 1]; empty = `blend` everywhere.
  AlignedVector<float> blend_lanes;
  // signs = parent: all bindings, each after the one it follows; empty = strongest. The first
  // follows itself, and so does nothing.
  std::vector<std::uint16_t> sign_order, sign_parent;  // [E]

  static absl::Status Validate(const DqsParams&) { return absl::OkStatus(); }
  static absl::StatusOr<BindCost> Cost(const BindInput& input, const DqsParams& params);
  // kInvalidArgument: the rig has no map of that name.
  static absl::StatusOr<Dqs> Bind(const BindInput& input, const DqsParams& params, Task& task);
  StageFacts Facts() const;
  absl::Status Check(const BlockLayout& layout, std::size_t binding_count) const;
  void Run(const StageFrame& frame) const;

  template <class Self, class Visit>
  static void Fields(Self& self, Visit&& visit) {
    WeightTable::Fields(self.table, visit);
    visit("bindings", self.bindings);
    visit("blend", self.blend);
    visit("blend_lanes", self.blend_lanes);
    visit("sign_order", self.sign_order);
    visit("sign_parent", self.sign_parent);
  }

 private:
  // Some vertex is not fully dual quaternion: linear blend runs too.
  bool mixes() const { return blend < 1 || !blend_lanes.empty(); }
  absl::Status CheckSigns() const;
};

}  // namespace sinew
