// lbs.h - linear blend skinning: v = sum_j w_j M_j u.
//
// Source: Magnenat-Thalmann et al. 1988.
#pragma once

#include "core/deform/lbs/lbs_params.h"
#include "core/deform/method/method.h"
#include "core/rig/weight_table.h"

namespace sinew {

struct Lbs : MethodOf<Lbs, LbsParams> {
  static constexpr int kVersion = 3;
  static constexpr std::string_view kSummary =
      "Linear blend: fast and predictable; joints lose volume when bent and collapse when twisted.";
  static constexpr std::string_view kPaper = "Magnenat-Thalmann, Laperriere, Thalmann 1988";
  static constexpr std::string_view kCostClass = "1 x";

  WeightTable table;
  AlignedVector<float> slopes;  // [pairs][2][16] of the weights, see surface_slopes.h; or empty

  static constexpr bool Carries(const LbsParams&) { return true; }
  static std::optional<std::uint32_t> Blends(const LbsParams& params) {
    return params.max_influences;
  }
  static absl::StatusOr<BindCost> Cost(const BindInput& input, const LbsParams& params);
  static absl::StatusOr<Lbs> Bind(const BindInput& input, const LbsParams& params, Task& task);
  StageFacts Facts() const {
    return {.method = Params::kName,
            .in = Space::kRest,
            .out = Space::kPosed,
            .pointwise = true,
            .slopes = !slopes.empty()};
  }
  void Run(const StageFrame& frame) const;

  template <class Self, class Visit>
  static void Fields(Self& self, Visit&& visit, const TableSizes& rig = {}) {
    WeightTable::Fields(self.table, visit, rig);
    visit("slopes", self.slopes, rule::SizeOrEmpty{self.table.weights.size() * 2}, rule::Finite());
  }
};

}  // namespace sinew
