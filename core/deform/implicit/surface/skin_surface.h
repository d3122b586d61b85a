// skin_surface.h - the welded skin for projection and tracking: roles of points, one-rings, and the
// field level of each point.
//
// Points are welded vertices, ordered by their lowest lanes, so that points with close indices are
// close on the skin and share joints. Edges are those of triangles; larger polygons are split into
// fans.
#pragma once

#include <absl/status/statusor.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/base/aligned.h"
#include "core/deform/implicit/field/posed_field.h"
#include "core/deform/implicit/surface/neighbour_rows.h"
#include "core/deform/method/method.h"

namespace sinew {

enum class PointRole : std::uint8_t {
  kNoField,            // fixed: its part has no field, or the field does not determine its depth
  kBorder,             // fixed: on an open border
  kAttachedComponent,  // eyes, buttons: follows a nearby point of the skin
  kRigidComponent,     // fixed: in a rigid component, see connected_components.h
  kSkin,               // projected
};

inline constexpr std::uint8_t kWholeWay = 255;

struct SkinSurface {
  std::vector<std::uint32_t> point_lane;  // [P] lane that holds a point's position
  std::vector<std::uint32_t> lane_point;  // [B * 16]
  // [P] PointRole; values from kSkin up encode the projection weight, with kWholeWay = 1. The
  // weight is 1 for points governed by one limb (two joints in line). It falls to 0 when influences
  // outside these reach 0.4, or those of other limbs 0.2: parts are rigid, and skin shared between
  // several of them follows their blend. It also falls when the field at rest differs from 1/2 by
  // 0.1 (weight 1) to 0.25 (weight 0). Smoothed twice over the one-ring.
  std::vector<std::uint8_t> role;
  NeighbourRows rows;
  std::vector<float> cotangent;  // per neighbour; from rest lengths, positive, rows sum to 1 or 0
  // Mean-value weights, or a row of zeros; see AddWeights and mean_value.h.
  std::vector<std::uint16_t> mean_value;
  // Points with a feature preservation weight, ascending, and the weight in 255ths: smoothing keeps
  // that fraction of their skinned shape. Preserves the edges of coarse features such as hooves;
  // smooth and fine skin has weight 0.
  std::vector<std::uint32_t> firm;
  std::vector<std::uint8_t> firmness;
  std::vector<float> potential;  // [P] level: the composed field at bind
  // Runs of points with the same largest part at bind: the first point of each, ascending from 0.
  std::vector<std::uint32_t> run_point;
  std::vector<std::uint16_t> run_part;
  std::vector<std::uint32_t> island;   // [I] points of attached components, ascending
  std::vector<std::uint32_t> nearest;  // [I] the skin or rigid-component point each follows, and
  std::vector<std::uint8_t> along;     // [I] how much of its projection it follows, in 255ths

  std::size_t points() const { return point_lane.size(); }
  Vec3f PointOf(std::span<const PointBlock> blocks, std::size_t p) const {
    const std::size_t lane = point_lane[p];
    const PointBlock& block = blocks[lane / kLanes];
    return {block.x[lane % kLanes], block.y[lane % kLanes], block.z[lane % kLanes]};
  }
  PointRole RoleOf(std::size_t p) const { return std::min(PointRole{role[p]}, PointRole::kSkin); }
  bool IsSkin(std::size_t p) const { return RoleOf(p) == PointRole::kSkin; }
  bool GoesPartly(std::size_t p) const { return IsSkin(p) && role[p] != kWholeWay; }
  bool AnyGoesPartly() const {
    return std::ranges::any_of(role, [](std::uint8_t r) {
      return r >= static_cast<std::uint8_t>(PointRole::kSkin) && r != kWholeWay;
    });
  }
  // Projection weight of a skin point, 0 to 1.
  float WayOf(std::size_t p) const {
    constexpr int kNone = static_cast<int>(PointRole::kSkin);
    return static_cast<float>(role[p] - kNone) / static_cast<float>(kWholeWay - kNone);
  }
  // Feature preservation weight of point p, 0 to 1.
  float FirmnessOf(std::uint32_t p) const {
    const auto at = std::ranges::lower_bound(firm, p);
    if (at == firm.end() || *at != p) return 0;
    return static_cast<float>(firmness[static_cast<std::size_t>(at - firm.begin())]) / 255;
  }
  std::size_t Count(PointRole role_of) const;
  // The part with the largest field at point p at bind.
  std::uint32_t PartOf(std::size_t p) const {
    return run_part[static_cast<std::size_t>(std::ranges::upper_bound(run_point, p) -
                                             run_point.begin()) -
                    1];
  }
  // Validates loaded tables that keep the rules in Fields. kDataLoss.
  absl::Status Check() const;

  template <class Self, class Visit>
  static void Fields(Self& self, Visit&& visit) {
    const std::size_t points = self.points(), edges = self.rows.size();
    visit("point_lane", self.point_lane, rule::Size(1, rule::Lanes()), rule::Below(rule::Lanes()));
    visit("lane_point", self.lane_point, rule::Size(rule::Lanes()), rule::Below(points));
    visit("role", self.role, rule::Size(points));
    NeighbourRows::Fields(self.rows, visit);
    visit("cotangent", self.cotangent, rule::Size(edges), rule::Within{0, 1});
    visit("mean_value", self.mean_value, rule::Size(edges));
    visit("firm", self.firm, rule::Below(points), rule::Sorted());
    visit("firmness", self.firmness, rule::Size(self.firm.size()));
    visit("potential", self.potential, rule::Size(points), rule::Finite());
    visit("run_point", self.run_point, rule::Size(1, rule::kAnySize), rule::Sorted());
    visit("run_part", self.run_part, rule::Size(self.run_point.size()));
    visit("island", self.island, rule::Below(points));
    visit("nearest", self.nearest, rule::Size(self.island.size()), rule::Below(points));
    visit("along", self.along, rule::Size(self.island.size()));
  }
};

// Upper limits in bytes: of a SkinSurface, and of what binding it holds in addition.
struct SkinSurfaceBytes {
  std::size_t bound = 0, passing = 0;
};
SkinSurfaceBytes SkinSurfaceCost(const Rig& rig, const BlockLayout& layout);

// Roles follow the connected components (connected_components.h). Points whose field at bind is
// below 0.01 or above 0.99, where it is nearly constant, are fixed, as are attached components if
// there is no skin to follow.
//
//    part_of_vertex  [V] below field.parts(), -1 = none
//    field           of the bind pose
//
// kCancelled.
absl::StatusOr<SkinSurface> BindSkinSurface(const BindInput& input,
                                            std::span<const std::int32_t> part_of_vertex,
                                            const PosedField& field, const Task& task);

// [P][4] point positions with 0 in the fourth component, from a stage's blocks.
void GatherPoints(const SkinSurface& skin, std::span<const PointBlock> blocks,
                  std::span<float> points, const Task& task);

// Blends projected points with their skinned positions by the projection weight.
//
//    moved  [P][4]; skin with a weight below 1 is written
void GoPartOfWay(const SkinSurface& skin, std::span<const PointBlock> in, std::span<float> moved,
                 const Task& task);

// Moves attached components with their skin points and writes the blocks. A point that did not move
// keeps the bits of all its lanes.
//
//    moved  [P][4]; attached components are written
void ScatterPoints(const SkinSurface& skin, std::span<const PointBlock> in, std::span<float> moved,
                   std::span<PointBlock> out, const Task& task);

void ScatterVertexStatus(const SkinSurface& skin, const BlockLayout& layout,
                         std::span<const std::uint8_t> of_point,
                         std::span<std::uint8_t> vertex_status);

}  // namespace sinew
