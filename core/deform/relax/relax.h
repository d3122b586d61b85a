// relax.h - tangential relaxation: slides vertices along the posed surface to where their
// neighbours would carry them at rest.
//
// At rest each point is the mean-value average of its one-ring, projected along its normal. A pass
// moves each point by `strength` towards the same average of the posed neighbours, without the
// component along the posed normal, and down onto the triangle below it, so convex skin does not
// grow; onto the flattest one in a fold, and less far onto one that is steeper than 72 degrees.
// This evens out stretch and keeps the shape; rest and rigid motions are kept up to rounding.
// Points on ridges slide less; sharp corners, borders, points whose faces do not close around them
// once (mean_value.h), poles of more than 16 triangles and rigid components
// (connected_components.h) do not move.
//
// Source: the relaxation step of Vaillant et al. 2013; faces and ridges are additions.
#pragma once

#include "core/base/aligned.h"
#include "core/deform/method/method.h"
#include "core/deform/relax/relax_params.h"

namespace sinew {

struct Relax : MethodOf<Relax, RelaxParams> {
  static constexpr int kVersion = 7;
  static constexpr std::string_view kSummary =
      "Slides vertices along the posed surface so that it is stretched evenly; use it last.";
  static constexpr std::string_view kPaper = "Vaillant et al. 2013";
  static constexpr std::string_view kCostClass = "8 x";

  // Points are welded vertices, ordered by their lowest lanes and, locally, by the number of their
  // neighbours, in groups of 16.
  std::uint32_t iterations = 0;
  float strength = 0;
  std::vector<std::uint32_t> point_lane;   // [P] lane that holds a point's position
  std::vector<std::uint32_t> lane_point;   // [B * 16]
  std::vector<std::uint8_t> group_closed;  // [groups] see RelaxKernel
  std::vector<std::uint32_t> group_steps;  // [groups + 1] offsets into the tables below, in 16s
  std::vector<std::uint32_t> ring;         // points, see RelaxKernel; fixed points: themselves
  AlignedVector<float> weights;            // as `ring`; 0 for points that stay
  std::vector<std::uint8_t> inside_out;    // [P] 1 = inside out (part_triangles.h)

  static absl::StatusOr<BindCost> Cost(const BindInput& input, const RelaxParams& params);
  static absl::StatusOr<Relax> Bind(const BindInput& input, const RelaxParams& params, Task& task);
  StageFacts Facts() const;
  void Run(const StageFrame& frame) const;
  std::vector<BindStatistic> Statistics() const;
  std::size_t points() const { return point_lane.size(); }
  std::size_t groups() const { return (points() + kLanes - 1) / kLanes; }

  template <class Self, class Visit>
  static void Fields(Self& self, Visit&& visit, const TableSizes& rig = {}) {
    const std::size_t points = self.points(), edges = self.ring.size();
    visit("iterations", self.iterations, rule::Within{1, 100});
    visit("strength", self.strength, rule::Within{0, 1});
    visit("point_lane", self.point_lane, rule::Size(1, rig.lanes), rule::Below(rig.lanes));
    visit("lane_point", self.lane_point, rule::Size(rig.lanes), rule::Below(points));
    visit("group_closed", self.group_closed, rule::Size(self.groups()), rule::Within{0, 1});
    visit("group_steps", self.group_steps, rule::Offsets(self.groups(), edges / kLanes));
    visit("ring", self.ring, rule::MultipleOf{kLanes}, rule::Below(points));
    visit("weights", self.weights, rule::Size(edges), rule::Within{0, 1});
    visit("inside_out", self.inside_out, rule::Size(points), rule::Within{0, 1});
  }
};

}  // namespace sinew
