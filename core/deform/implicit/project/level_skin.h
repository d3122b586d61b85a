// level_skin.h - what projection needs to know of each skin point: the limb it belongs to, its
// level of that limb's field, the direction inward, and the other limbs near it.
//
// Lengths are relative to the size of the owner (PosedField::Size), directions in the bind pose. f
// is the signed distance of a part, see field.h.
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <span>
#include <vector>

#include "core/deform/implicit/field.h"
#include "core/deform/implicit/project/constants.h"
#include "core/deform/implicit/skin.h"
#include "core/deform/method/method.h"

namespace sinew {

inline constexpr std::uint16_t kNoOwner = 0xffff;

struct LevelSkin {
  std::vector<std::uint16_t> owner;  // [P] part, or kNoOwner: not projected
  std::vector<float> level;          // [P] f of the owner
  std::vector<float> to_axis;        // [P] way inward to where f of the owner is least, the
                                     // axis of a round limb
  std::vector<float> from_bone;      // [P] distance from the owner's bone
  std::vector<float> own_weight;     // [P] skin weight of the owner's joints
  std::vector<float> restore_share;  // [P] share of the longest restoring move: less between
                                     // bones that lie apart
  std::vector<float> move_share;     // [P] share of a move that is made: less where the field
                                     // does not fit the skin, or many parts share it
  std::vector<Vec3f> inward;         // [P] unit
  // Other parts near a point.
  std::vector<std::uint32_t> neighbours;  // [P + 1] offsets into the tables below
  std::vector<std::uint16_t> part;        // [N] ascending for each point
  std::vector<float> gap;     // [N] f of the part - f of the owner; large beyond its support
  std::vector<float> weight;  // [N] skin weight of its joints

  std::size_t points() const { return owner.size(); }
  // Upper limits in bytes for each point: of the tables, and of what binding holds in addition.
  static constexpr std::size_t kBytes = 42 + 10 * kMostNeighbours,
                               kPassingBytes = 160 + 60 * kMostNeighbours;
  template <class Self, class Visit>
  static void Fields(Self& self, Visit&& visit, const TableSizes& rig = {}) {
    const std::size_t points = self.points(), count = self.part.size();
    visit("level_owner", self.owner, rule::Size(points), rule::Below(rig.field_parts, kNoOwner));
    visit("level", self.level, rule::Size(points), rule::Finite());
    visit("level_to_axis", self.to_axis, rule::Size(points), rule::Within{0, kMostToAxis});
    visit("level_from_bone", self.from_bone, rule::Size(points), rule::NotNegative(),
          rule::Finite());
    visit("level_own_weight", self.own_weight, rule::Size(points), rule::Within{0, 1.001});
    visit("level_restore_share", self.restore_share, rule::Size(points), rule::Within{0, 1});
    visit("level_move_share", self.move_share, rule::Size(points), rule::Within{0, 1});
    visit("level_inward", self.inward, rule::Size(points), rule::Within{-1.001, 1.001});
    visit("level_neighbours", self.neighbours, rule::Offsets(points, count));
    visit("level_part", self.part, rule::Below(rig.field_parts));
    visit("level_gap", self.gap, rule::Size(count), rule::Finite());
    visit("level_weight", self.weight, rule::Size(count), rule::Within{0, 1.001});
  }
};

//    part_of_binding  [E] part of each binding's joint, -1 = none
//    bind_pose        the field in the bind pose, with its muscles
//    rest             see PointsInBindPose
//
// kCancelled.
absl::StatusOr<LevelSkin> BindLevelSkin(const BindInput& input,
                                        std::span<const std::int32_t> part_of_binding,
                                        const PosedField& bind_pose, const SkinSurface& skin,
                                        std::span<const Vec3d> rest, const Task& task);

}  // namespace sinew
