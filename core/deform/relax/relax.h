// relax.h - tangential relaxation: slides vertices along the posed surface to where their
// neighbours would carry them as at rest.
//
// A point is the mean-value average of its neighbours at rest, seen along its normal. A pass moves
// each point `strength` of the way to that average of the posed neighbours, without the part along
// the posed normal, and down to the face under it (of up to 16 corners): what skinning squeezed and
// stretched evens out, the shape stays, and convex skin does not grow. Rest stays rest, and rigid
// motions move rigidly. Points on ridges slide less, and sharp corners not at all: they would leave
// the line that they shape. Borders, points where the surface does not close around them once (see
// mean_value.h) and pieces that joints alone move (see skin_shells.h) stay. Source: the relaxation
// step of Vaillant et al. 2013; faces and ridges are ours.
#pragma once

#include "core/deform/method/method.h"
#include "core/surface/surface_faces.h"

namespace sinew {

struct Relax {
  using Params = RelaxParams;
  static constexpr int kVersion = 3;
  static constexpr std::string_view kSummary =
      "Slides vertices along the posed surface, so that it is stretched evenly; put it last.";
  static constexpr std::string_view kPaper = "Vaillant et al. 2013";
  static constexpr std::string_view kCostClass = "40 x";

  // Points are welded vertices, counted by their lowest lanes.
  std::uint32_t iterations = 0;
  float strength = 0;
  std::vector<std::uint32_t> point_lane;  // [P] lane whose position a point has
  std::vector<std::uint32_t> lane_point;  // [B * 16]
  std::vector<std::uint32_t> row_offset;  // [P + 1] into neighbours; empty row: it stays
  std::vector<std::uint32_t> neighbours;  // points
  std::vector<float>
      weights;  // of each neighbour; not negative, rows sum to the part of its way a point goes
  std::vector<std::uint8_t> inside_out;  // [P] 1 where its mesh is (see part_triangles.h)
  SurfaceFaces surface;                  // corners are points

  static absl::Status Validate(const RelaxParams&) { return absl::OkStatus(); }
  static absl::StatusOr<BindCost> Cost(const BindInput& input, const RelaxParams& params);
  static absl::StatusOr<Relax> Bind(const BindInput& input, const RelaxParams& params, Task& task);
  StageFacts Facts() const;
  absl::Status Check(const BlockLayout& layout, std::size_t bindings) const;
  void Run(const StageFrame& frame) const;
  std::vector<BindStatistic> Statistics() const;
  std::size_t points() const { return point_lane.size(); }

  template <class Self, class Visit>
  static void Fields(Self& self, Visit&& visit) {
    visit("iterations", self.iterations);
    visit("strength", self.strength);
    visit("point_lane", self.point_lane);
    visit("lane_point", self.lane_point);
    visit("row_offset", self.row_offset);
    visit("neighbours", self.neighbours);
    visit("weights", self.weights);
    visit("inside_out", self.inside_out);
    SurfaceFaces::Fields(self.surface, visit);
  }
};

}  // namespace sinew
