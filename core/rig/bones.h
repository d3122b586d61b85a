// bones.h - the bones of a skeleton in a pose: the one set of rules for where each begins and ends.
//
// A bone begins at the origin of its joint and ends:
// 1. at the origin of its only child, or at the mean of several (Bones::tip);
// 2. that of a leaf, or of a joint in the place of its children: in the skin that the joint
//    carries, as far as that reaches (Reach) towards its middle (Bones::DirectionInto);
// 3. where no weights say which skin that is, half the length of the bone that leads to it farther
//    on (Bones::ToEachChild).
// Deviations. Each was replaced by the common rule on ten characters and kept because some of them
// got worse; in brackets the largest loss:
// - `carriers` of Bones skips joints that carry nothing: where a part of the skin ends the next one
//   begins, not at a joint between them. For the fields of `implicit` (smallest thickness .87 ->
//   .86).
// - Bones::LimbTip leaves a leaf whose skin is no limb a point. For `bulge_free`, which would pull
//   the edges of an eyelid along with its middle (volume .973 -> .971). The fields of `implicit`
//   enclose skin of any form, so their leaves always reach to its end (rms edge .056 -> .060).
// - Bones::ToEachChild gives a joint one bone to each child: weights of a hip need both thighs, not
//   their mean (part of the weight that is not where its author put it: 21 -> 30 %).
// - ExtendLeafBones continues the bones of rule 3 in the body. For geodesic weights, which compare
//   distances (that part: 15 -> 30 %); heat would flow farther from the tips than authors paint
//   (mean difference from authored weights: .073 -> .078).
// core/metrics/binding_bones.h is independent: metrics must not share a rule with what they judge.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/base/types.h"
#include "core/parallel/task.h"
#include "core/rig/rig.h"
#include "core/rig/skeleton.h"

namespace sinew {

// A segment that carries skin for a joint. A joint may own several; the nearest counts. root = tip
// is allowed.
struct Bone {
  std::uint32_t joint = 0;
  Vec3d root, tip;
};

// The bones of one pose, by joint. Model space.
class Bones {
 public:
  // pose: [J] joint to model space, such as the rest pose; copied.
  // carriers: [J] 1 where a bone may begin, or empty = everywhere. A bone then ends where the next
  // ones below it begin, or as without `carriers` if there are none.
  Bones(const Rig& rig, std::span<const AffineD> pose, std::span<const std::uint8_t> carriers = {})
      : Bones(rig.skeleton(), rig.mesh().diagonal(), pose, carriers) {}
  // Borrows the skeleton. diagonal: of the mesh.
  Bones(const Skeleton& skeleton, double diagonal, std::span<const AffineD> pose,
        std::span<const std::uint8_t> carriers);

  const Vec3d& origin(std::uint32_t joint) const { return origins_[joint]; }
  const Vec3d& tip(std::uint32_t joint) const { return tips_[joint]; }
  // No bone (of a carrier) begins below the joint.
  bool is_leaf(std::uint32_t joint) const { return leaf_[joint]; }
  bool IsPoint(std::uint32_t joint) const;
  // The direction of a bone, of any length; a bone without length continues the one that leads to
  // it. 0 0 0 = none.
  Vec3d Direction(std::uint32_t joint) const;
  // The direction of a bone that is a point: to the middle of the skin that it carries, or, if that
  // is its origin, that of Direction. Unit, or 0 0 0.
  Vec3d DirectionInto(std::uint32_t joint, std::span<const Vec3d> skin) const;
  // Where a bone that is a point ends in `skin` by rule 2; tip() unless a tenth of the skin's
  // points lie along the nearer half of that bone.
  Vec3d LimbTip(std::uint32_t joint, std::span<const Vec3d> skin) const;
  // Shorter bones are points.
  double no_length() const { return no_length_; }
  // One bone to each child, for weights; in the order of the joints:
  // - a joint owns a bone to each child that lies elsewhere;
  // - a joint below which everything lies in its own place ends a limb: its bone continues the one
  //   that leads to it by half its length, or is a point if none does. Joints below it own nothing;
  // - a joint in its parent's place that ends no limb of its own, because the parent has bones
  //   elsewhere (a twist joint, an attachment), owns nothing;
  // - of joints in one place along a chain, the last owns the bone that leads on.
  // carriers: [J] 1 where a bone may belong. Those of other joints go to their nearest carrier
  // ancestor and are dropped if there is none, as is that of a leaf that is no carrier. Controls
  // far off the skin (poles, targets, a root on the ground) are bones like others: leave them out.
  std::vector<Bone> ToEachChild(std::span<const std::uint8_t> carriers) const;

 private:
  bool Moves(std::uint32_t joint) const;  // lies elsewhere than its parent

  const Skeleton& skeleton_;
  std::vector<Vec3d> origins_;
  double no_length_;
  std::vector<Vec3d> tips_;                // [J]
  std::vector<bool> leaf_;                 // [J]
  std::vector<std::uint32_t> bone_above_;  // [J] ancestor whose bone leads here: the nearest one
                                           // that does not lie in the same place, or kNoParent
};

// How far points lie from `root` along a unit direction; 0 where none does.
double Reach(const Vec3d& root, const Vec3d& direction, std::span<const Vec3d> points);

// [2 B] a number for each bone's root (2 b) and tip (2 b + 1), equal for ends in one place. The
// bones lie within 1 of the origin, as below.
std::vector<std::uint32_t> JoinedEnds(std::span<const Bone> bones);

// Extends bones whose tip starts no other bone halfway to where their lines leave a closed surface,
// by at most four times their length. Partial when the task is cancelled.
//
//    points     [P] and bones in a space where all points lie within 1 of the origin
//    triangles  [T] wound outwards if side is 1, inwards if it is -1
void ExtendLeafBones(std::span<const Vec3d> points,
                     std::span<const std::array<std::uint32_t, 3>> triangles, double side,
                     const Task& task, std::span<Bone> bones);

// Whether a matrix is singular, but for rounding.
bool Flattens(const Mat3d& a);
// None if it is singular or its inverse is not finite.
std::optional<AffineD> TryInverse(const AffineD& a);

}  // namespace sinew
