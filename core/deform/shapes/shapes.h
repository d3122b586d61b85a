// shapes.h - blend shapes with in-betweens, before the skin: v = u + strength * sum_s d_s(control).
//
// A shape's offset d follows its control: nothing at 0, each target's offsets at its weight, linear
// between neighbours. Beyond the outermost knots (the targets and 0) the last segment goes on, so a
// shape with one target is control / weight times its offsets for any value, as glTF has it;
// controls are not clamped to their range. Targets may stand on both sides of 0. Shapes add up in
// the order of the rig; offsets are in bind space, so the skin turns them.
//
// The stage moves points only: normals come from the posed surface, which has the offsets in it,
// and normal offsets of targets are not read. A rig without shapes is welcome: points pass through,
// as do those of vertices that no active target moves, with their bits.
#pragma once

#include "core/base/aligned.h"
#include "core/deform/method/method.h"

namespace sinew {

struct Shapes {
  using Params = ShapesParams;
  static constexpr int kVersion = 1;
  static constexpr std::string_view kSummary =
      "Blend shapes: the rig's morph targets, moved by controls, before the skin.";
  static constexpr std::string_view kPaper = "Parke 1972; Khronos, glTF 2.0";
  static constexpr std::string_view kCostClass = "0.1 x, and 0.3 x for each dense active target";

  // S shapes, T targets, P pairs of a target and a block that it moves.
  std::vector<std::uint32_t> shape_control;  // [S]
  std::vector<std::uint32_t> shape_target;   // [S + 1] into targets
  std::vector<float> target_weight;          // [T] rising within a shape, none 0
  std::vector<std::uint32_t> target_pair;    // [T + 1] into pairs
  std::vector<std::uint32_t> pair_block;     // [P] rising within a target
  AlignedVector<float> offsets;              // [P][3][16]
  float strength = 1;

  static absl::Status Validate(const ShapesParams&) { return absl::OkStatus(); }
  static absl::StatusOr<BindCost> Cost(const BindInput& input, const ShapesParams& params);
  static absl::StatusOr<Shapes> Bind(const BindInput& input, const ShapesParams& params,
                                     Task& task);
  StageFacts Facts() const;
  absl::Status Check(const BlockLayout& layout, std::size_t bindings) const;
  void Run(const StageFrame& frame) const;
  std::vector<BindStatistic> Statistics() const;

  template <class Self, class Visit>
  static void Fields(Self& self, Visit&& visit) {
    visit("shape_control", self.shape_control);
    visit("shape_target", self.shape_target);
    visit("target_weight", self.target_weight);
    visit("target_pair", self.target_pair);
    visit("pair_block", self.pair_block);
    visit("offsets", self.offsets);
    visit("strength", self.strength);
  }
};

// How much of each target a control's value means; all 0 at value 0.
//   weights       [T] >= 1 of them, rising, finite, none 0
//   coefficients  [T] filled; finite
void BlendTargets(std::span<const float> weights, double value, double strength,
                  std::span<float> coefficients);

}  // namespace sinew
