// bulge.h - how far posed skin stands out of the body that the bones alone would carry along.
//
// A joint between round limbs of radius R closes without a bulge where no skin is farther than R
// from the nearest bone: the posed body is each limb moved rigidly, and at the joint what the
// section there sweeps as it turns from one limb to the other (a ball, of a round limb). Limbs are
// not round, so the rest skin takes the place of R. Every posed point goes back to rest by each
// motion that it may follow, and the one that puts it least outside the rest skin counts:
//   - That of the bone it lies over: its strongest, or, past a joint's plane, the next. The plane
//     goes through the joint and halves the rest angle; where limbs fold upon each other a point
//     lies over both. Beyond the end of one bone and before the next it is as much of the turn
//     between them as brings the point into the plane.
//   - That of its bone and those joined to it, wherever the skin it comes to is that bone's own:
//     what a bone carries goes with it on both sides of a plane.
//   - That of its bone or of one joined to it, to before the planes of that: a point a hair behind
//     one is that far from the limb, not out of the body altogether.
//   - Of skin between limbs (metacarpals, the roots of fingers, thighs), as much of the turn from
//     its strongest bone to the strongest of another limb, none above or below the first, as its
//     weights for these two say: limbs that part have no other shape between them.
//   - That of another child of its bone's parent (fingers of a hand), where the skin it comes to
//     belongs there, or the point does for a quarter of its weight; of a parent with no more than
//     kMaxSiblings of them.
// So neither skin that is carried by one bone alone nor skin that slides is a bulge, be it to where
// the limb is thicker; nor is the pose's own scale, which goes back too.
//
// Bulge is the distance outside the rest skin over the limb's radius: the median distance from the
// bone's axis to skin near the point's station along it at rest. A point's own distance would not
// do: where a bone runs close under the skin any small excess is many times that. On a cylinder
// bulge is (largest distance from the nearest bone) / R - 1, or 0 if that is less.
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
  // Of points of components that enclose a volume. All must outlive it.
  Bulge(const Rig& rig, const BindingBones& bones, const Surface& surface,
        const EnclosedVolume& volume);

  // The largest. skin: [E] bind space to posed model space. Absent: no point has a limb.
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
    double part = 0;                      // the second's, of the weight of both
  };
  Pair BetweenLimbs(std::uint32_t p) const;  // part 0: it is not
  // A quarter of point p's weight or more is the binding's.
  bool Shares(std::uint32_t p, std::uint32_t binding) const;

  const Rig& rig_;
  const BindingBones& bones_;
  const Surface& surface_;
  JointOrder order_;
  std::vector<std::vector<std::uint32_t>> joints_of_;  // [E] places in bones_.joints
  std::vector<std::uint32_t> above_;                   // [E] that of them to its parent, or none
  std::vector<std::uint32_t> owner_;                   // [points of the solid] binding
  std::vector<Measured> measured_;
  Solid solid_;
};

}  // namespace sinew::metrics
