// skin_surface.h - the welded skin as projection and tracking see it: who may move, who their
// neighbours are, and which level of the field each point belongs to.
//
// Points are welded vertices, counted by their lowest lanes, so that neighbours in number are
// neighbours on the skin and follow the same joints. Neighbours run along the edges of triangles;
// larger polygons are cut into fans.
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
  kNoField,            // stays: its part has no field, or the field does not tell how deep it lies
  kBorder,             // stays: an open border
  kAttachedComponent,  // eyes, buttons: moves as a point of the skin near it
  kRigidComponent,     // stays: of a shell that joints alone move, see skin_shells.h
  kSkin,               // moves along the field
};

inline constexpr std::uint8_t kWholeWay = 255;

struct SkinSurface {
  std::vector<std::uint32_t> point_lane;  // [P] lane whose position a point has
  std::vector<std::uint32_t> lane_point;  // [B * 16]
  // [P] PointRole; of skin, and above it what part of its way it goes, all of it at kWholeWay.
  // Where two joints of one limb, an ancestor of the other, do not carry all of a point it goes
  // less far, at 0.4 carried by others, or 0.2 by other limbs, not at all: parts are rigid, and
  // skin between several of them, or between two fingers, follows their mean, as skinned. Nor
  // does it where the field does not fit it at rest: from 0.1 off 1/2 on less, from 0.25 not at
  // all. Two passes of smoothing over the skin end it.
  std::vector<std::uint8_t> role;
  NeighbourRows rows;
  std::vector<float> cotangent;  // of each neighbour; rest lengths, positive, rows sum to 1 or 0
  // As above or a row of zeros, see AddWeights and mean_value.h.
  std::vector<std::uint16_t> mean_value;
  // Points that smoothing leaves a part of their shape as skinned, rising, and what part of 255. A
  // coarse hoof would lose its edges to a contact; folds need smoothing, and fine or even skin does
  // not lose by it.
  std::vector<std::uint32_t> firm;
  std::vector<std::uint8_t> firmness;
  std::vector<float> potential;  // [P] the composed field in the bind pose
  // Runs of points by the part that is largest there: the first point of each, rising from 0.
  std::vector<std::uint32_t> run_point;
  std::vector<std::uint16_t> run_part;
  std::vector<std::uint32_t> island;   // [I] points of role kIsland, rising
  std::vector<std::uint32_t> nearest;  // [I] the kSkin or kPuppet point each moves with, and
  std::vector<std::uint8_t> along;     // [I] what part of its way it goes, of 255

  std::size_t points() const { return point_lane.size(); }
  // Point p of blocks that a stage gets.
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
  // 0 to 1; of skin.
  float WayOf(std::size_t p) const {
    constexpr int kNone = static_cast<int>(PointRole::kSkin);
    return static_cast<float>(role[p] - kNone) / static_cast<float>(kWholeWay - kNone);
  }
  // 0 to 1: what part of its shape as skinned point p keeps.
  float FirmnessOf(std::uint32_t p) const {
    const auto at = std::ranges::lower_bound(firm, p);
    if (at == firm.end() || *at != p) return 0;
    return static_cast<float>(firmness[static_cast<std::size_t>(at - firm.begin())]) / 255;
  }
  std::size_t Count(PointRole role_of) const;
  // The part that is largest at point p in the bind pose.
  std::uint32_t PartOf(std::size_t p) const {
    return run_part[static_cast<std::size_t>(std::ranges::upper_bound(run_point, p) -
                                             run_point.begin()) -
                    1];
  }
  // Sizes, ranges and finite values. kDataLoss.
  absl::Status Check(const BlockLayout& layout) const;

  template <class Self, class Visit>
  static void Fields(Self& self, Visit&& visit) {
    visit("point_lane", self.point_lane);
    visit("lane_point", self.lane_point);
    visit("role", self.role);
    NeighbourRows::Fields(self.rows, visit);
    visit("cotangent", self.cotangent);
    visit("mean_value", self.mean_value);
    visit("firm", self.firm);
    visit("firmness", self.firmness);
    visit("potential", self.potential);
    visit("run_point", self.run_point);
    visit("run_part", self.run_part);
    visit("island", self.island);
    visit("nearest", self.nearest);
    visit("along", self.along);
  }
};

// Upper bounds in bytes: what a SkinSurface holds, and what binding it holds beside it.
struct SkinSurfaceBytes {
  std::size_t bound = 0, passing = 0;
};
SkinSurfaceBytes SkinSurfaceCost(const Rig& rig, const BlockLayout& layout);

// What the connected components are: see skin_shells.h. Points whose field in the bind pose is
// below 0.01 or above 0.99, where it hardly falls, stay where the stage before leaves them, as do
// islands where there is nothing else.
//   part_of_vertex  [V] below field.parts(), -1 = none
//   field           of the bind pose
// kCancelled.
absl::StatusOr<SkinSurface> BindSkinSurface(const BindInput& input,
                                            std::span<const std::int32_t> part_of_vertex,
                                            const PosedField& field, const Task& task);

// Positions of the points, [P][4] with 0 in the fourth; `blocks` as a stage gets them.
void GatherPoints(const SkinSurface& skin, std::span<const PointBlock> blocks,
                  std::span<float> points, const Task& task);

// Lets skin go its part of the way from where it was skinned.
//   moved  [P][4]; skin that does not go all of its way is written
void GoPartOfWay(const SkinSurface& skin, std::span<const PointBlock> in, std::span<float> moved,
                 const Task& task);

// Moves islands with their skin points, and writes blocks: a point that did not move keeps the bits
// of each of its lanes.
//   moved  [P][4]; islands are written
void ScatterPoints(const SkinSurface& skin, std::span<const PointBlock> in, std::span<float> moved,
                   std::span<PointBlock> out, const Task& task);

// file order <- points
void ScatterVertexStatus(const SkinSurface& skin, const BlockLayout& layout,
                         std::span<const std::uint8_t> of_point,
                         std::span<std::uint8_t> vertex_status);

}  // namespace sinew
