// bulge.h - how much farther from its bones posed skin is than at rest.
//
// bulge = max over points of (min over bones b of d_b(posed) - d_e(rest)) / r, at least 0. d_b is
// the distance to bone b in its bind space, so the pose's scale does not count; e is the bone of
// the strongest influence; r is the radius of the point's limb (limb_radii.h). The bones are those
// that influence the point, and the neighbours of e. Skin that moves with its bone has no bulge.
// Flat bones (binding_bones.h) and their points are left out.
//
// On a cylinder of radius R bulge is max(0, largest distance from the nearest bone / R - 1). Skin
// that spans two limbs, such as an armpit, moves away from both bones with every method: compare
// methods with each other there.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/metrics/binding_bones.h"
#include "core/metrics/limb_radii.h"
#include "core/metrics/surface.h"

namespace sinew::metrics {

class Bulge {
 public:
  // All arguments must outlive it.
  Bulge(const Rig& rig, const BindingBones& bones, const LimbRadii& radii, const Surface& surface);

  // skin: [E] bind space to posed model space. Absent: no point has a limb.
  std::optional<double> Measure(std::span<const Vec3d> points, std::span<const AffineD> skin,
                                const Task& task) const;

 private:
  const BindingBones& bones_;
  const std::span<const LimbRadii::Point> points_;
  std::vector<std::size_t> offsets_;     // [points_ + 1] into carriers_
  std::vector<std::uint32_t> carriers_;  // bindings with a known bone
  std::vector<double> distances_;        // [points_] at rest, from the bone of the strongest
};

}  // namespace sinew::metrics
