// multi_weight.h - multi-weight enveloping: a weight for each coordinate and influence, fitted to
// examples.
//
// With d the main joint of a vertex, N_j = M_d^-1 M_j and B_j the linear part of N_j, coordinate r
// of a point p is sum_j (w_jr (N_j u)_r + (B_j o_jr)_r), and v = M_d p. Relative to a joint it
// follows every motion of the whole character, which the published form, relative to the world,
// does not. If M_d is singular, p = u.
//
// Where the rig has no coefficients the offsets are 0 and the weights its own: linear blend.
//
// Source: Wang, Phillips 2002.
#pragma once

#include "core/base/aligned.h"
#include "core/deform/method/method.h"
#include "core/deform/multi_weight/multi_weight_params.h"

namespace sinew {

// A joint seen from the main joint of some vertices: its binding, with the main one in the upper
// half.
using RelativeJoint = std::uint32_t;

struct MultiWeight : MethodOf<MultiWeight, MultiWeightParams> {
  static constexpr int kVersion = 1;
  static constexpr std::string_view kSummary =
      "Fitted to example poses, with a weight for each coordinate: needs more of them than "
      "animation_space; see `sinew fit-weights`.";
  static constexpr std::string_view kPaper = "Wang, Phillips 2002";
  static constexpr std::string_view kCostClass = "3 x";

  BlockJoints main;                        // the main bindings of each block
  AlignedVector<float> is_main;            // [pairs of main][16] 1 in the lanes of that binding
  std::vector<RelativeJoint> relative;     // [R] rising
  std::vector<std::uint32_t> pair_offset;  // [B + 1] into pair_entry
  std::vector<std::uint32_t> pair_entry;   // [pairs] indices into `relative`, rising in a block
  AlignedVector<float> values;             // [pairs][3][4][16] per coordinate: offset x y z, weight

  static absl::StatusOr<BindCost> Cost(const BindInput& input, const MultiWeightParams& params);
  static absl::StatusOr<MultiWeight> Bind(const BindInput& input, const MultiWeightParams& params,
                                          Task& task);
  StageFacts Facts() const {
    return {.method = Params::kName,
            .in = Space::kRest,
            .out = Space::kPosed,
            .pointwise = true,
            .scratch_floats = relative.size() * 12};
  }
  void Run(const StageFrame& frame) const;

  template <class Self, class Visit>
  static void Fields(Self& self, Visit&& visit, const TableSizes& rig = {}) {
    BlockJoints::Fields(self.main, visit, rig);
    visit("is_main", self.is_main, rule::Size(self.main.pairs() * kLanes), rule::Within{0, 1});
    visit("relative", self.relative, rule::Rising{},
          rule::Each("bindings of the rig", [&rig](RelativeJoint pair) {
            return pair >> 16 < rig.bindings && (pair & 0xffff) < rig.bindings;
          }));
    visit("pair_offset", self.pair_offset, rule::Offsets(rig.blocks, self.pair_entry.size(), 1));
    visit("pair_entry", self.pair_entry, rule::Below(self.relative.size()),
          rule::Rising{self.pair_offset});
    visit("values", self.values, rule::Size(self.pair_entry.size() * 12 * kLanes), rule::Finite());
  }
};

}  // namespace sinew
