// shapes.h - blend shapes with in-betweens, applied before skinning: v = u + strength * sum_s
// d_s(control).
//
// A shape's offset d is piecewise linear in its control: 0 at 0 and each target's offsets at its
// weight (of either sign), extrapolated beyond the outermost knots. So a shape with one target has
// control / weight times its offsets for any value, as in glTF; controls are not clamped. Shapes
// add up in rig order, in bind space.
//
// Moves points only: normals are computed from the posed surface, and the targets' normal offsets
// are not used. Vertices that no active target moves keep their bits, as does everything if the rig
// has no shapes.
#pragma once

#include "core/base/aligned.h"
#include "core/deform/method/method.h"
#include "core/deform/shapes/shapes_params.h"

namespace sinew {

struct Shapes : MethodOf<Shapes, ShapesParams> {
  static constexpr int kVersion = 1;
  static constexpr std::string_view kSummary =
      "Blend shapes: the rig's morph targets, driven by controls, applied before skinning.";
  static constexpr std::string_view kPaper = "Parke 1972; Khronos, glTF 2.0";
  static constexpr std::string_view kCostClass = "0.1 x, plus 0.3 x per dense active target";

  // S shapes, T targets, P pairs of a target and a block with its vertices.
  std::vector<std::uint32_t> shape_control;  // [S]
  std::vector<std::uint32_t> shape_target;   // [S + 1] into targets
  std::vector<float> target_weight;          // [T] ascending within a shape, not 0
  std::vector<std::uint32_t> target_pair;    // [T + 1] into pairs
  std::vector<std::uint32_t> pair_block;     // [P] rising within a target
  AlignedVector<float> offsets;              // [P][3][16]
  float strength = 1;

  static absl::StatusOr<BindCost> Cost(const BindInput& input, const ShapesParams& params);
  static absl::StatusOr<Shapes> Bind(const BindInput& input, const ShapesParams& params,
                                     Task& task);
  StageFacts Facts() const;
  void Run(const StageFrame& frame) const;
  std::vector<BindStatistic> Statistics() const;

  template <class Self, class Visit>
  static void Fields(Self& self, Visit&& visit, const TableSizes& rig = {}) {
    const std::size_t targets = self.target_weight.size(), pairs = self.pair_block.size();
    visit("shape_control", self.shape_control, rule::Any());  // Facts: the rig has the controls
    visit("shape_target", self.shape_target, rule::Offsets(self.shape_control.size(), targets, 1));
    visit("target_weight", self.target_weight, rule::Finite(),
          rule::Each("no 0", [](float weight) { return weight != 0; }),
          rule::Rising{self.shape_target});
    visit("target_pair", self.target_pair, rule::Offsets(targets, pairs));
    visit("pair_block", self.pair_block, rule::Below(rig.blocks), rule::Rising{self.target_pair});
    visit("offsets", self.offsets, rule::Size(pairs * 3 * kLanes), rule::Finite());
    visit("strength", self.strength, rule::Within{-10, 10});
  }
};

// Coefficient of each target for a control's value; all 0 at value 0.
//
//    weights       [T >= 1] ascending, finite, not 0
//    coefficients  [T] output; finite
void BlendTargets(std::span<const float> weights, double value, double strength,
                  std::span<float> coefficients);

}  // namespace sinew
