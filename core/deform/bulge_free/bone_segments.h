// bone_segments.h - where each binding's bone lies in bind space, from the skeleton at rest.
#pragma once

#include <span>
#include <vector>

#include "core/base/types.h"
#include "core/rig/bones.h"
#include "core/rig/joint_order.h"
#include "core/rig/rig.h"
#include "core/surface/adjacency.h"

namespace sinew {

// Ends of a bone, see core/rig/bones.h: those of leaves by LimbTip.
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
  // Holds some 80 bytes a welded point while it is made. Linear.
  BoneSegments(const Rig& rig, const WeldedPoints& welded, const Vec3d& centre);

  // The segment of binding e. All zero if the inverse bind is singular: its position is undefined.
  const BoneSegment& segment(std::size_t e) const { return segments_[e]; }
  // Joint of `upper` is an ancestor of that of `lower` (bindings). The upper bone's direction leads
  // to the lower joint's origin, which several children's mean would miss; a bone without length
  // continues the one that leads to it.
  bool IsAncestor(std::size_t upper, std::size_t lower) const;
  BoneCouple Couple(std::size_t upper, std::size_t lower) const;

 private:
  std::vector<Vec3d> FindTips(const WeldedPoints& welded, std::span<const AffineD> at_rest) const;
  Vec3d ToBind(std::size_t e, const Vec3d& rest_direction) const;

  const Rig& rig_;
  JointOrder order_;
  Bones bones_;                   // at rest
  std::vector<AffineD> to_bind_;  // [E] rest pose to bind space
  std::vector<BoneSegment> segments_;
};

}  // namespace sinew
