// animation_space.h - linear blend with an offset for each influence, fitted to examples:
// v = sum_j (w_j M_j u + A_j o_j), A_j the linear part of M_j, sum_j w_j = 1, sum_j o_j = 0.
//
// Where the rig has no coefficients the offsets are 0 and the weights its own: linear blend.
//
// Source: Merry, Marais, Gain 2006; p_j of the paper is (w_j u + o_j, w_j).
#pragma once

#include "core/base/aligned.h"
#include "core/deform/animation_space/animation_space_params.h"
#include "core/deform/method/method.h"

namespace sinew {

struct AnimationSpace : MethodOf<AnimationSpace, AnimationSpaceParams> {
  static constexpr int kVersion = 1;
  static constexpr std::string_view kSummary =
      "Fitted to example poses: nearly as fast as linear blend and closer to them; see `sinew "
      "fit-weights`.";
  static constexpr std::string_view kPaper = "Merry, Marais, Gain 2006";
  static constexpr std::string_view kCostClass = "1.5 x";

  BlockJoints joints;
  AlignedVector<float> values;  // [pairs][4][16] offset x y z, weight

  static absl::StatusOr<BindCost> Cost(const BindInput& input, const AnimationSpaceParams& params);
  static absl::StatusOr<AnimationSpace> Bind(const BindInput& input,
                                             const AnimationSpaceParams& params, Task& task);
  StageFacts Facts() const {
    return {.method = Params::kName, .in = Space::kRest, .out = Space::kPosed, .pointwise = true};
  }
  void Run(const StageFrame& frame) const;

  template <class Self, class Visit>
  static void Fields(Self& self, Visit&& visit, const TableSizes& rig = {}) {
    BlockJoints::Fields(self.joints, visit, rig);
    visit("values", self.values, rule::Size(self.joints.pairs() * 4 * kLanes), rule::Finite());
  }
};

}  // namespace sinew
