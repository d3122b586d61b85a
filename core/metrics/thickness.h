// thickness.h - how far vertices are from the bone that carries them, posed over rest: below 1 is
// collapse (the candy wrapper). Bulge is above 1; skin that slides over a joint is as far from the
// next bone as it was from its own, so the nearest counts there, of its own bone and those joined
// to it.
//
// The bone of a binding is the segment from its joint's origin to the mean of its children's
// origins; where that has no length, or there is no child, to the mean of the vertices it carries.
// It is posed by the binding's own skin matrix. A vertex is carried by the binding that has half of
// its weight or more, if there is one.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/metrics/surface.h"

namespace sinew::metrics {

class BoneDistances {
 public:
  // Leaves out vertices nearer to their bone than half the median of that bone's vertices
  // (fingertips, the ends of limbs): their ratios say nothing about thickness.
  BoneDistances(const Rig& rig, const Surface& surface);

  struct Extremes {
    double least = 1;  // posed distance / rest distance, from the own bone
    double most = 1;   // the same from the nearest
  };
  // skin: [E] bind space to posed model space. Absent: no vertex has a distance.
  std::optional<Extremes> Measure(std::span<const Vec3d> points, std::span<const AffineD> skin,
                                  const Task& task) const;

 private:
  struct Bone {
    Vec3d from, to;  // bind space
  };
  struct Carried {
    std::uint32_t point = 0;
    std::uint32_t binding = 0;
    double distance = 0;  // at rest, > 0
    double nearest = 0;   // of the joined bones too, at rest; 0 = on one
  };
  double Nearest(const Vec3d& p, std::uint32_t binding, std::span<const Bone> bones) const;

  std::vector<Bone> bones_;  // [E]
  std::vector<std::vector<std::uint32_t>>
      joined_;  // [E] bindings of parent and children, own first
  std::vector<Carried> carried_;
};

}  // namespace sinew::metrics
