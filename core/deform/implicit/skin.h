// skin.h - the welded skin for projection: roles of its points.
//
// Points are welded vertices, ordered by their lowest lanes, so that points with close indices are
// close on the skin and share joints.
#pragma once

#include <absl/status/statusor.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/base/aligned.h"
#include "core/base/types.h"
#include "core/deform/method/method.h"

namespace sinew {

enum class PointRole : std::uint8_t {
  kNoField,            // not projected: its part has no field; smoothing may move it
  kBorder,             // not projected: on an open border; smoothing may move it
  kAttachedComponent,  // eyes, buttons: follows a nearby point of the skin
  kRigidComponent,     // fixed: in a rigid component, see connected_components.h
  kSkin,               // projected
};

struct SkinSurface {
  std::vector<std::uint32_t> point_lane;  // [P] lane that holds a point's position
  std::vector<std::uint32_t> lane_point;  // [B * 16]
  std::vector<std::uint8_t> role;         // [P] PointRole
  std::vector<std::uint32_t> attached;    // [I] points of attached components, ascending
  std::vector<std::uint32_t> followed;    // [I] the skin or rigid-component point each follows, and
  std::vector<std::uint8_t> follow_share;  // [I] how much of its projection it follows, in 255ths

  std::size_t points() const { return point_lane.size(); }
  Vec3f PointOf(std::span<const PointBlock> blocks, std::size_t p) const {
    const std::size_t lane = point_lane[p];
    const PointBlock& block = blocks[lane / kLanes];
    return {block.x[lane % kLanes], block.y[lane % kLanes], block.z[lane % kLanes]};
  }
  PointRole RoleOf(std::size_t p) const { return PointRole{role[p]}; }
  bool IsSkin(std::size_t p) const { return RoleOf(p) == PointRole::kSkin; }
  std::size_t Count(PointRole role_of) const;
  // Validates loaded tables that keep the rules in Fields. kDataLoss.
  absl::Status Check() const;

  template <class Self, class Visit>
  static void Fields(Self& self, Visit&& visit, const TableSizes& rig = {}) {
    const std::size_t points = self.points();
    visit("point_lane", self.point_lane, rule::Size(1, rig.lanes), rule::Below(rig.lanes));
    visit("lane_point", self.lane_point, rule::Size(rig.lanes), rule::Below(points));
    visit("role", self.role, rule::Size(points),
          rule::Below(static_cast<std::size_t>(PointRole::kSkin) + 1));
    visit("attached", self.attached, rule::Below(points));
    visit("followed", self.followed, rule::Size(self.attached.size()), rule::Below(points));
    visit("follow_share", self.follow_share, rule::Size(self.attached.size()));
  }
};

// Upper limits in bytes: of a SkinSurface, and of what binding it holds in addition.
struct SkinSurfaceBytes {
  std::size_t bound = 0, passing = 0;
};
SkinSurfaceBytes SkinSurfaceCost(const Rig& rig, const BlockLayout& layout);

// Roles follow the connected components (connected_components.h). Attached components are fixed if
// there is no skin to follow. kCancelled.
//
//    part_of_vertex  [V] -1 = none
absl::StatusOr<SkinSurface> BindSkinSurface(const BindInput& input,
                                            std::span<const std::int32_t> part_of_vertex,
                                            const Task& task);

// [P] the points in the bind pose, model space.
std::vector<Vec3d> PointsInBindPose(const BindInput& input, const SkinSurface& skin);

// [P][4] point positions with 0 in the fourth component, from a stage's blocks.
void GatherPoints(const SkinSurface& skin, std::span<const PointBlock> blocks,
                  std::span<float> points, const Task& task);

// Moves attached components with their skin points and writes frame.out and, if requested,
// frame.vertex_status. A point that did not move keeps the bits of all its lanes.
//
//    moved   [P][4]; attached components are written
//    status  [P] VertexStatus, if requested
void ScatterPoints(const SkinSurface& skin, std::span<float> moved,
                   std::span<const std::uint8_t> status, const StageFrame& frame);

// Immutable; Find is thread-safe. Among equally distant points the smallest by x, y, z wins, so
// that the result does not depend on file order or on the search tree.
class NearestSkin {
 public:
  struct Place {
    Vec3d at;
    std::uint32_t point;
  };
  explicit NearestSkin(std::vector<Place> skin);
  ~NearestSkin();

  bool empty() const;
  // The point nearest to `at`; there must be at least one.
  std::uint32_t Find(const Vec3d& at) const;

 private:
  class Tree;
  std::unique_ptr<const Tree> tree_;
};

}  // namespace sinew
