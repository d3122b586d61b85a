// dqs.h - dual quaternion skinning: blends rigid motions instead of matrices, so twisted joints
// keep their volume.
//
// Source: Kavan et al. 2008. Joints that scale or shear contribute their rotation to the quaternion
// and the remainder (M - R) u to the vertex's translation, so any motion common to all joints is
// exact.
//
// q and -q are the same rotation; `signs` chooses the hemisphere:
//
// - strongest: that of the vertex's strongest joint. The shorter arc between any two joints. Three
//   joints can be inconsistent (a.b < 0, b.c < 0, c.a < 0, for example two twist joints of 120
//   degrees each); then the surface tears where the strongest joint changes.
// - parent: each joint that of its nearest bound ancestor, once per pose. Consistent for all
//   vertices, so the surface does not tear while every joint is within 180 degrees of its parent:
//   better for twist chains and long spines. Joints further apart in total blend the long way; near
//   a full turn the vertex falls back to `strongest`, with a jump.
//
// Either way only relative rotations count, so rotating the root changes nothing.
#pragma once

#include "core/deform/dqs/dqs_params.h"
#include "core/deform/method/method.h"
#include "core/rig/weight_table.h"

namespace sinew {

struct Dqs : MethodOf<Dqs, DqsParams> {
  static constexpr int kVersion = 7;
  static constexpr std::string_view kSummary =
      "Dual quaternions: twists keep their volume; bent joints bulge a little.";
  static constexpr std::string_view kPaper = "Kavan, Collins, Zara, O'Sullivan 2008";
  static constexpr std::string_view kCostClass = "2 x";

  WeightTable table;
  std::uint32_t bindings = 0;
  float blend = 1;
  AlignedVector<float> slopes;  // [pairs][2][16] of the weights, see surface_slopes.h; or empty
  // [B][16] blend * blend_map in [0, 1]; empty = `blend` everywhere.
  AlignedVector<float> blend_lanes;
  // signs = parent: all bindings, each after the one it follows; empty = strongest. The first
  // follows itself.
  std::vector<std::uint16_t> sign_order, sign_parent;  // [E]

  // Not when mixed with linear blending.
  static bool Carries(const DqsParams& params) {
    return params.blend == 1 && params.blend_map.empty();
  }
  static absl::StatusOr<BindCost> Cost(const BindInput& input, const DqsParams& params);
  // kInvalidArgument: the rig has no map of that name.
  static absl::StatusOr<Dqs> Bind(const BindInput& input, const DqsParams& params, Task& task);
  StageFacts Facts() const;
  absl::Status Check(const BlockLayout& layout, std::size_t binding_count) const;
  void Run(const StageFrame& frame) const;

  template <class Self, class Visit>
  static void Fields(Self& self, Visit&& visit, const TableSizes& rig = {}) {
    WeightTable::Fields(self.table, visit, rig);
    visit("bindings", self.bindings, rule::Equals{rig.bindings});
    visit("blend", self.blend, rule::Within{0, 1});
    visit("blend_lanes", self.blend_lanes, rule::SizeOrEmpty{rig.lanes}, rule::Within{0, 1});
    visit("slopes", self.slopes,
          rule::SizeOrEmpty{self.mixes() ? 0 : 2 * self.table.weights.size()}, rule::Finite());
    visit("sign_order", self.sign_order, rule::SizeOrEmpty{rig.bindings},
          rule::Distinct{rig.bindings});
    visit("sign_parent", self.sign_parent, rule::Size(self.sign_order.size()),
          rule::Below(rig.bindings));
  }

 private:
  // Whether some vertex blends in linear skinning.
  bool mixes() const { return blend < 1 || !blend_lanes.empty(); }
};

}  // namespace sinew
