// delta_mush.h - Delta Mush: smooths the posed mesh and restores the detail of the rest mesh.
//
// At bind the rest mesh is smoothed and the difference is stored per vertex in a frame of the
// smoothed surface (normal, and direction to a one-ring neighbour). A pose is smoothed by the same
// operator and the detail is added in its frames: v = x + displacement F delta. Directly behind lbs
// the smoothed points come from tables, otherwise from iterations. Meant for cheap rigid weights.
// Source: Mancewicz, Derksen, Rijpkema, Wilson 2014.
//
// The detail is always that of the rest mesh and keeps its rest length under scaling joints. Of
// preceding shapes the coarse part remains; detail as fine as the smoothing is lost.
#pragma once

#include "core/base/aligned.h"
#include "core/deform/delta_mush/delta_mush_params.h"
#include "core/deform/delta_mush/direct_smoothing.h"
#include "core/deform/method/method.h"
#include "core/surface/surface_faces.h"

namespace sinew {

inline constexpr std::uint32_t kMaxMushSteps = 1000;  // upper limit of `iterations`

struct DeltaMush : MethodOf<DeltaMush, DeltaMushParams> {
  static constexpr int kVersion = 5;
  static constexpr std::string_view kSummary =
      "Smooths the posed mesh and restores the rest mesh's detail; turns rigid weights into soft "
      "bends.";
  static constexpr std::string_view kPaper = "Mancewicz, Derksen, Rijpkema, Wilson 2014";
  static constexpr std::string_view kCostClass = "14 x";

  // Points are welded vertices, ordered by their lowest lanes. A point that does not move has an
  // empty row. Frame neighbours: the preferred one, and a substitute if the edge to the first has
  // no direction along the surface; -1 = none. Without a frame, or where the smoothed surface is so
  // small that rounding would determine the frame, detail rotates with the pivot joint.
  std::uint32_t iterations = 0;            // 0: the stage copies its input and all tables are empty
  std::vector<std::uint32_t> point_lane;   // [P] lane that holds a point's position
  std::vector<std::uint32_t> row_offset;   // [P + 1] into neighbours
  std::vector<std::uint32_t> neighbours;   // points
  std::vector<float> weights;              // see SmoothKernelArgs
  std::uint32_t even = 1;                  // 1: one weight per point
  std::uint32_t stepped = 1;               // 0: no rows, points are always smoothed directly
  DirectSmoothing direct;                  // if used, rows are only for moved rest points
  SurfaceFaces surface;                    // corners are points; empty if displacement is 0
  std::vector<std::int32_t> frame_points;  // [P][2]
  std::vector<float> frame_turn;   // [P][2] cosine and sine of the rest angle between the two
  std::vector<float> frame_least;  // [P][3] minimum: root of area, edge lengths
  std::vector<std::uint32_t> lane_point;  // [B][16]
  AlignedVector<float> delta;             // [B][3][16] detail along tangent, bitangent, normal
  AlignedVector<float> offset;            // [B][3][16] the same in bind space

  // radius needs step > 0.
  static absl::Status Validate(const DeltaMushParams& params);
  static absl::StatusOr<BindCost> Cost(const BindInput& input, const DeltaMushParams& params);
  // kInvalidArgument: no such map, or the radius needs more than 1,000 steps.
  static absl::StatusOr<DeltaMush> Bind(const BindInput& input, const DeltaMushParams& params,
                                        Task& task);
  StageFacts Facts() const;
  absl::Status Check(const BlockLayout& layout, std::size_t bindings) const;
  void Run(const StageFrame& frame) const;
  std::vector<BindStatistic> Statistics() const;
  std::size_t points() const { return point_lane.size(); }

 private:
  std::size_t WeightCount() const {
    return stepped == 0 ? 0 : even == 1 ? points() : neighbours.size();
  }
  // Floats of a buffer of points, in whole blocks.
  std::size_t BufferFloats() const { return (points() + kLanes - 1) / kLanes * kLanes * 4; }
  // Smoothed points in the scratch of a frame, relative to `origin`: [P][4] x y z 0.
  std::span<const float> Smooth(const StageFrame& frame, const Vec3f& origin) const;

 public:
  template <class Self, class Visit>
  static void Fields(Self& self, Visit&& visit, const TableSizes& rig = {}) {
    const std::size_t points = self.points(), edges = self.neighbours.size();
    visit("iterations", self.iterations, rule::Within{0, kMaxMushSteps});
    visit("point_lane", self.point_lane, rule::Size(1, rig.lanes), rule::Below(rig.lanes));
    visit("stepped", self.stepped, rule::Within{self.direct.used() ? 0.0 : 1.0, 1});
    visit("row_offset", self.row_offset, rule::Size(self.stepped == 1 ? points + 1 : 0),
          rule::Offsets(points, edges, 0, self.stepped == 0));
    visit("neighbours", self.neighbours, rule::Size(self.stepped == 1 ? edges : 0),
          rule::Below(points));
    visit("weights", self.weights, rule::Size(self.WeightCount()), rule::Within{0, 1});
    visit("even", self.even, rule::Within{0, 1});
    DirectSmoothing::Fields(self.direct, visit, points, rig.bindings);
    SurfaceFaces::Fields(self.surface, visit, points, points);
    visit("frame_points", self.frame_points, rule::Size(points * 2), rule::Below(points, -1));
    visit("frame_turn", self.frame_turn, rule::Size(points * 2), rule::Finite());
    visit("frame_least", self.frame_least, rule::Size(points * 3), rule::Finite());
    visit("lane_point", self.lane_point, rule::Size(rig.lanes), rule::Below(points));
    visit("delta", self.delta, rule::Size(3 * rig.lanes), rule::Finite());
    visit("offset", self.offset, rule::Size(3 * rig.lanes), rule::Finite());
  }
};

}  // namespace sinew
