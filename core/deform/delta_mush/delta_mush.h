// delta_mush.h - Delta Mush: smooths the posed mesh and puts the detail of the rest mesh back.
//
// At bind the rest mesh is smoothed; what that took from each vertex is kept in a frame of the
// smoothed surface (normal, and direction to one ring neighbour). A pose is smoothed by the same
// fixed operator, and the detail stands on its frames: v = x + displacement F delta. Cheap rigid
// weights are the intended input. Source: Mancewicz, Derksen, Rijpkema, Wilson 2014.
//
// The stage sees posed points only. Where shapes moved the points before they were posed, the
// detail put back is still that of the rest mesh: what is broad in a shape stays, what is as fine
// as the smoothing is smoothed away. Detail keeps its rest length under joints that scale.
#pragma once

#include "core/base/aligned.h"
#include "core/deform/method/method.h"
#include "core/surface/surface_faces.h"

namespace sinew {

inline constexpr std::uint32_t kMaxMushSteps = 1000;  // as many as `iterations` may be

struct DeltaMush {
  using Params = DeltaMushParams;
  static constexpr int kVersion = 2;
  static constexpr std::string_view kSummary =
      "Smooths the posed mesh and puts the rest mesh's detail back; turns rigid weights into soft "
      "bends.";
  static constexpr std::string_view kPaper = "Mancewicz, Derksen, Rijpkema, Wilson 2014";
  static constexpr std::string_view kCostClass = "40 x";

  // Points are welded vertices, counted by their lowest lanes. A point that does not move when
  // smoothed has an empty row. Frame neighbours: the one, and the one that stands in where the
  // first has no direction along the surface; -1 = none, the detail turns with the pivot joint. So
  // it does where the smoothed surface is tiny: rounding would choose the frame.
  std::uint32_t iterations = 0;           // 0: out is in, and every table is empty
  std::vector<std::uint32_t> point_lane;  // [P] lane whose position a point has
  std::vector<std::uint32_t> row_offset;  // [P + 1] into neighbours
  std::vector<std::uint32_t> neighbours;  // points
  std::vector<float> weights;             // as SmoothKernelArgs
  std::uint32_t even = 1;                 // weights are per point
  SurfaceFaces surface;                   // corners are points; no faces when no detail is put back
  std::vector<std::int32_t> frame_points;  // [P][2]
  std::vector<float> frame_turn;           // [P][2] cosine and sine of the rest angle between them
  std::vector<float> frame_least;          // [P][3] root of area, and edges along it, needed
  std::vector<std::uint32_t> lane_point;   // [B][16]
  AlignedVector<float> delta;              // [B][3][16] detail along tangent, bitangent, normal
  AlignedVector<float> offset;             // [B][3][16] the same in bind space

  // radius needs a step.
  static absl::Status Validate(const DeltaMushParams& params);
  static absl::StatusOr<BindCost> Cost(const BindInput& input, const DeltaMushParams& params);
  // kInvalidArgument: the rig has no map of that name, or the radius takes more than 1,000 steps.
  static absl::StatusOr<DeltaMush> Bind(const BindInput& input, const DeltaMushParams& params,
                                        Task& task);
  StageFacts Facts() const;
  absl::Status Check(const BlockLayout& layout, std::size_t bindings) const;
  void Run(const StageFrame& frame) const;
  std::vector<BindStatistic> Statistics() const;
  std::size_t points() const { return point_lane.size(); }

  template <class Self, class Visit>
  static void Fields(Self& self, Visit&& visit) {
    visit("iterations", self.iterations);
    visit("point_lane", self.point_lane);
    visit("row_offset", self.row_offset);
    visit("neighbours", self.neighbours);
    visit("weights", self.weights);
    visit("even", self.even);
    SurfaceFaces::Fields(self.surface, visit);
    visit("frame_points", self.frame_points);
    visit("frame_turn", self.frame_turn);
    visit("frame_least", self.frame_least);
    visit("lane_point", self.lane_point);
    visit("delta", self.delta);
    visit("offset", self.offset);
  }
};

}  // namespace sinew
