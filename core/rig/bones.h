// bones.h - the bones of a skeleton in a pose: where each begins, ends and points to.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/types.h"
#include "core/rig/rig.h"

namespace sinew {

// Of one pose: a bone reaches from its joint's origin to that of its only child, or to the mean of
// several; the bone of a leaf is a point. Model space.
class Bones {
 public:
  // pose: [J] joint to model space, such as the rest pose; copied.
  Bones(const Rig& rig, std::span<const AffineD> pose);

  Vec3d origin(std::uint32_t joint) const;
  const Vec3d& tip(std::uint32_t joint) const { return tips_[joint]; }
  // Of any length; a bone without length continues the one that leads to it. 0 0 0 = none.
  Vec3d Direction(std::uint32_t joint) const;
  // Of a bone that is a point: to the centre of the skin it mostly carries, or, if that has no
  // direction, as above. Unit, or 0 0 0.
  Vec3d DirectionInto(std::uint32_t joint, std::span<const Vec3d> skin) const;
  // Below it a bone is a point.
  double no_length() const { return no_length_; }

 private:
  std::vector<Vec3d> origins_;
  double no_length_;
  std::vector<Vec3d> tips_;                // [J]
  std::vector<std::uint32_t> bone_above_;  // [J] ancestor whose bone leads here: the nearest one
                                           // that does not lie in the same place, or kNoParent
};

// How far points lie from `root` along a unit direction; 0 where none does.
double Reach(const Vec3d& root, const Vec3d& direction, std::span<const Vec3d> points);

// Whether a matrix is singular.
bool Flattens(const Mat3d& a);

}  // namespace sinew
