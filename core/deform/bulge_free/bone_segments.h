// bone_segments.h - where each binding's bone lies in bind space, from the skeleton at rest.
#pragma once

#include <vector>

#include "core/base/types.h"
#include "core/rig/joint_order.h"
#include "core/rig/rig.h"

namespace sinew {

// A bone reaches from its joint's origin to that of its only child, or to the mean of several; the
// bone of a leaf is a point.
struct BoneSegment {
  Vec3d root, tip;
};

// A joint and one of its ancestors, whose bones meet end to end.
struct BoneCouple {
  Vec3d upper, lower;  // unit directions away from the skeleton's root, 0 0 0 = none
};

// Rest geometry carried to the space of each binding's bind, relative to a centre, so that
// PosedRig::skin takes it to the pose.
class BoneSegments {
 public:
  BoneSegments(const Rig& rig, const Vec3d& centre);

  // Of binding e. All zero for an inverse bind that flattens space: no place can be told then.
  const BoneSegment& segment(std::size_t e) const { return segments_[e]; }
  // Joint of `upper` is an ancestor of that of `lower` (bindings). The upper bone's direction leads
  // to the lower joint's origin, which several children's mean would miss; a bone without length
  // continues the one that leads to it.
  bool IsAncestor(std::size_t upper, std::size_t lower) const;
  BoneCouple Couple(std::size_t upper, std::size_t lower) const;

 private:
  Vec3d Origin(std::uint32_t joint) const;
  Vec3d RestDirection(std::uint32_t joint) const;
  Vec3d ToBind(std::size_t e, const Vec3d& rest_direction) const;

  const Rig& rig_;
  JointOrder order_;
  double no_length_;                       // below it a bone is a point
  std::vector<Vec3d> tips_;                // [J] rest pose
  std::vector<std::uint32_t> bone_above_;  // [J] ancestor whose bone leads here: the nearest one
                                           // that does not lie in the same place, or kNoParent
  std::vector<AffineD> to_bind_;           // [E] rest pose to bind space
  std::vector<BoneSegment> segments_;
};

}  // namespace sinew
