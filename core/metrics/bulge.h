// bulge.h - how far posed skin is outside the body that the bones alone would carry.
//
// bulge = max over points of min over cases of d(q) / r. d(q) is the distance of q outside the rest
// skin (0 inside), in bind space. r is the local limb radius: the median distance from the bone
// axis of the rest points near the point's station (not the point's own distance, which can be tiny
// where a bone runs close under the skin). On a cylinder of radius R bulge is max(0, largest
// distance from the nearest bone / R - 1).
//
// For a posed point x let q_b = M_b^-1 x, M_b the skin matrix of binding b, and e the point's
// strongest binding. Each joint has a plane that bisects the rest angle (binding_bones.h). The
// cases are the rigid motions x may follow:
//
// 1. Bone below the point: q_e; where q_e is beyond a joint plane, q_b of the next bone b, and so
//    on. Where limbs fold, both. Beyond the end of one bone but before the next: x moved back by
//    the fraction of the joint's rotation that puts it into the plane.
// 2. Own skin: q_b for b = e and its adjacent bones, if the nearest rest skin belongs to b.
// 3. Clipped: for the same b, q_b projected before the planes of b, plus the distance projected.
//    Keeps a point just beyond a plane from counting as far outside.
// 4. Between limbs (metacarpals, finger roots, thighs): x moved back by the fraction w_s / (w_e +
//    w_s) of the rotation between e and s, the strongest binding that is neither ancestor nor
//    descendant of e.
// 5. Siblings: case 1 from another child of e's parent (at most kMaxSiblings), if the nearest rest
//    skin belongs to it, or x has a weight of 1/4 or more for it.
//
// So skin that follows one bone, slides over the limb, or is scaled by the pose has no bulge.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/metrics/binding_bones.h"
#include "core/metrics/solid.h"
#include "core/metrics/surface.h"
#include "core/metrics/volume.h"
#include "core/rig/joint_order.h"

namespace sinew::metrics {

class Bulge {
 public:
  // Considers points of components that enclose a volume. All arguments must outlive it.
  Bulge(const Rig& rig, const BindingBones& bones, const Surface& surface,
        const EnclosedVolume& volume);

  // The largest bulge. skin: [E] bind space to posed model space. Absent: no point has a limb.
  std::optional<double> Measure(std::span<const Vec3d> points, std::span<const AffineD> skin,
                                const Task& task) const;

 private:
  class Frame;
  struct Measured {
    std::uint32_t point = 0;
    double radius = 0;
  };
  void LinkJoints();
  void MeasureRadii(const EnclosedVolume& volume);
  struct Pair {
    std::uint32_t first = 0, second = 0;  // bindings
    double part = 0;                      // weight of `second` over the weight of both
  };
  Pair BetweenLimbs(std::uint32_t p) const;  // part 0: not between limbs
  double WeightOf(std::uint32_t p, std::uint32_t binding) const;

  const Rig& rig_;
  const BindingBones& bones_;
  const Surface& surface_;
  JointOrder order_;
  std::vector<std::vector<std::uint32_t>> joints_of_;  // [E] indices into bones_.joints
  std::vector<std::uint32_t> above_;                   // [E] joint to the parent, or none
  std::vector<std::uint32_t> owner_;                   // [points of the solid] strongest binding
  std::vector<Measured> measured_;
  Solid solid_;
};

}  // namespace sinew::metrics
