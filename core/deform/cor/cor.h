// cor.h - optimised centres of rotation: rotations blended as quaternions, about a centre per
// vertex found at bind.
//
// v = sum w M u + (R - sum w R_j)(u - p); for rigid joints R (u - p) + sum w M p. Twists keep their
// volume as with dual quaternions, and bends bulge less. Source: Le and Hodgins 2016. Joints that
// scale or shear are treated as in dqs, so any motion common to all joints is exact.
#pragma once

#include "core/deform/cor/cor_params.h"
#include "core/deform/method/method.h"
#include "core/rig/weight_table.h"

namespace sinew {

struct Cor : MethodOf<Cor, CorParams> {
  static constexpr int kVersion = 5;
  static constexpr std::string_view kSummary =
      "Rotates each vertex about its own centre: twists keep their volume, bends do not bulge.";
  static constexpr std::string_view kPaper = "Le, Hodgins 2016";
  static constexpr std::string_view kCostClass = "2 x";

  WeightTable table;
  std::uint32_t bindings = 0;
  float pieces = 0;              // number after splitting
  float blur = 0;                // relative increase of sigma by grouping
  AlignedVector<float> centres;  // [B][3][16] p, relative to the layout's centre
  // Slopes of the weights [pairs][2][16] and centres [B][2][3][16], see surface_slopes.h; or empty.
  AlignedVector<float> slopes, centre_slopes;

  static constexpr bool Carries(const CorParams&) { return true; }
  static absl::StatusOr<BindCost> Cost(const BindInput& input, const CorParams& params);
  static absl::StatusOr<Cor> Bind(const BindInput& input, const CorParams& params, Task& task);
  StageFacts Facts() const;
  void Run(const StageFrame& frame) const;
  std::vector<BindStatistic> Statistics() const;

  template <class Self, class Visit>
  static void Fields(Self& self, Visit&& visit, const TableSizes& rig = {}) {
    WeightTable::Fields(self.table, visit, rig);
    visit("bindings", self.bindings, rule::Equals{rig.bindings});
    visit("pieces", self.pieces, rule::NotNegative());
    visit("blur", self.blur, rule::NotNegative());
    visit("centres", self.centres, rule::Size(3 * rig.lanes), rule::Finite());
    visit("slopes", self.slopes, rule::SizeOrEmpty{2 * self.table.weights.size()}, rule::Finite());
    visit("centre_slopes", self.centre_slopes, rule::Size(self.slopes.empty() ? 0 : 6 * rig.lanes),
          rule::Finite());
  }
};

}  // namespace sinew
