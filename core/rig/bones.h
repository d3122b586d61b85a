// bones.h - the bones of a skeleton in a pose: the one rule for where each begins and ends.
//
// A bone begins at the origin of its joint and ends:
// 1. at the origin of its only child, or at the mean of several (Bones::tip);
// 2. that of a leaf, or of a joint in the place of its children: in the skin that the joint
// carries,
//    as far as that reaches (Reach) towards its middle (Bones::DirectionInto);
// 3. where no weights say which skin that is, half the length of the bone that leads to it farther
//    on (BonesOf).
// Deviations, each for a reason:
// - `carriers` of Bones skips joints that carry nothing: where a part of the skin ends the next one
//   begins, not at a joint between them. For the fields of `implicit`.
// - Bones::LimbTip leaves a leaf whose skin is no limb a point. For `bulge_free`, which would pull
//   the edges of an eyelid along with its middle.
// - BonesOf gives a joint one bone to each child: weights of a hip need both thighs, not their
// mean. core/metrics/binding_bones.h is independent: metrics must not share a rule with what they
// judge.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/types.h"
#include "core/rig/rig.h"
#include "core/rig/skeleton.h"

namespace sinew {

// Of one pose, by joint. Model space.
class Bones {
 public:
  // pose: [J] joint to model space, such as the rest pose; copied.
  // carriers: [J] 1 where a bone may begin, or empty = everywhere. A bone then ends where the next
  // ones below it begin, or as without `carriers` if there are none.
  Bones(const Rig& rig, std::span<const AffineD> pose, std::span<const std::uint8_t> carriers = {});

  const Vec3d& origin(std::uint32_t joint) const { return origins_[joint]; }
  const Vec3d& tip(std::uint32_t joint) const { return tips_[joint]; }
  // No bone (of a carrier) begins below the joint.
  bool is_leaf(std::uint32_t joint) const { return leaf_[joint]; }
  bool IsPoint(std::uint32_t joint) const;
  // Of any length; a bone without length continues the one that leads to it. 0 0 0 = none.
  Vec3d Direction(std::uint32_t joint) const;
  // Of a bone that is a point: to the middle of the skin that it carries, or, if that is its
  // origin, as above. Unit, or 0 0 0.
  Vec3d DirectionInto(std::uint32_t joint, std::span<const Vec3d> skin) const;
  // Where a bone that is a point ends in `skin` by rule 2; tip() unless a tenth of the skin's
  // points lie along the nearer half of that bone.
  Vec3d LimbTip(std::uint32_t joint, std::span<const Vec3d> skin) const;
  // Shorter bones are points.
  double no_length() const { return no_length_; }

 private:
  std::vector<Vec3d> origins_;
  double no_length_;
  std::vector<Vec3d> tips_;                // [J]
  std::vector<bool> leaf_;                 // [J]
  std::vector<std::uint32_t> bone_above_;  // [J] ancestor whose bone leads here: the nearest one
                                           // that does not lie in the same place, or kNoParent
};

// How far points lie from `root` along a unit direction; 0 where none does.
double Reach(const Vec3d& root, const Vec3d& direction, std::span<const Vec3d> points);

// A segment that carries skin for a joint, in model space of the rest pose. A joint may own
// several; the nearest counts. root = tip is allowed.
struct Bone {
  std::uint32_t joint = 0;
  Vec3d root, tip;
};

// The bones of a skeleton at rest, by rising joint:
// - a joint owns a bone to each child that lies elsewhere ("elsewhere": farther than 1e-6 of the
//   skeleton's extent);
// - a joint below which everything lies in its own place ends a limb: its bone continues the one
//   that leads to it by half its length, or is a point if none does. Joints below it own nothing;
// - a joint in its parent's place that ends no limb of its own, because the parent has bones
//   elsewhere (a twist joint, an attachment), owns nothing;
// - of joints in one place along a chain, the last owns the bone that leads on.
// Controls far off the skin (poles, targets, a root on the ground) are bones like others: leave
// them out before ComputeWeights.
std::vector<Bone> BonesOf(const Skeleton& skeleton);

// Whether a matrix is singular, but for rounding.
bool Flattens(const Mat3d& a);

}  // namespace sinew
