// muscle.h - muscles that push the skin along its normals: swelling without fields, after any
// skinning stage.
//
// At bind every vertex near a muscle's rest belly is anchored to it with a position along the belly
// (u), a direction in its section and a share, which falls smoothly from 1 where the belly touches
// the skin to 0 one semi-axis away. In a pose it moves along the posed normal by share *
// (radius(pose) - radius(rest)). If the shares of overlapping muscles sum to more than 1 they are
// scaled to 1. A belly outside the skin at bind has no effect. There is no contact, and skin does
// not lift where a belly leaves the bone; `implicit` does both at a higher cost.
#pragma once

#include <cmath>

#include "core/base/aligned.h"
#include "core/deform/method/method.h"
#include "core/deform/muscle/muscle_params.h"
#include "core/muscle/posed_muscle.h"
#include "core/surface/surface_faces.h"

namespace sinew {

struct MuscleAnchor {
  std::uint32_t muscle;
  float share;         // strength and nearness times the profile at u; < 0 if faces point inward
  float across, down;  // unit direction in the section: along width and depth
};

struct MuscleStage : MethodOf<MuscleStage, MuscleParams> {
  static constexpr int kVersion = 5;
  static constexpr std::string_view kSummary =
      "The rig's muscles swell as their joints bend and push the skin along its normals; fast, "
      "without contact.";
  static constexpr std::string_view kPaper = "Scheepers, Parent, Carlson, May 1997";
  static constexpr std::string_view kCostClass = "5 x";

  // Without muscles, or without skin above them, all tables are empty and the stage copies its
  // input.
  MuscleTables muscles;
  std::vector<BellyAxes> rest_axes;          // [muscles] at rest, with the controls' default values
  std::vector<std::uint32_t> anchor_offset;  // [A + 1] into anchors, per anchored point
  std::vector<MuscleAnchor> anchors;
  std::vector<std::uint32_t> anchor_lane;  // [A] lowest lane of the point
  std::vector<std::int32_t> lane_anchor;   // [B][16] anchored point of a lane, -1 = none
  SurfaceFaces surface;                    // corners are lanes, points are anchored points

  static absl::StatusOr<BindCost> Cost(const BindInput& input, const MuscleParams& params);
  static absl::StatusOr<MuscleStage> Bind(const BindInput& input, const MuscleParams& params,
                                          Task& task);
  StageFacts Facts() const;
  absl::Status Check(const BlockLayout& layout, std::size_t bindings) const;
  void Run(const StageFrame& frame) const;
  std::vector<BindStatistic> Statistics() const;
  std::size_t anchored() const { return anchor_lane.size(); }

  template <class Self, class Visit>
  static void Fields(Self& self, Visit&& visit, const TableSizes& rig = {}) {
    MuscleTables::Fields(self.muscles, visit, rig);
    const std::size_t anchored = self.anchored(), muscles = self.muscles.rows.size();
    visit("rest_axes", self.rest_axes, rule::Size(muscles),
          rule::Each("finite semi-axes above 0", [](const BellyAxes& axes) {
            return axes.width > 0 && axes.depth > 0 && std::isfinite(axes.width + axes.depth);
          }));
    visit("anchor_offset", self.anchor_offset, rule::Offsets(anchored, self.anchors.size()));
    visit("anchors", self.anchors,
          rule::Each("a muscle of the table, a finite share and a unit direction",
                     [muscles](const MuscleAnchor& anchor) {
                       const float length2 =
                           anchor.across * anchor.across + anchor.down * anchor.down;
                       return anchor.muscle < muscles && std::isfinite(anchor.share) &&
                              length2 > 0.9f && length2 < 1.1f;
                     }));
    visit("anchor_lane", self.anchor_lane, rule::Below(rig.lanes));
    visit("lane_anchor", self.lane_anchor, rule::Size(rig.lanes), rule::Below(anchored, -1));
    SurfaceFaces::Fields(self.surface, visit, rig.lanes, anchored);
  }
};

}  // namespace sinew
