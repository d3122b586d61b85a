// thickness.h - how far vertices are from the bone that carries them, posed over rest: below 1 is
// collapse (the candy wrapper).
//
// A bone (see binding_bones.h) is posed by its binding's skin matrix. A vertex is carried by the
// binding that has half of its weight or more, if there is one.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/metrics/binding_bones.h"
#include "core/metrics/surface.h"

namespace sinew::metrics {

class BoneDistances {
 public:
  // Leaves out vertices nearer to their bone than half the median of that bone's vertices
  // (fingertips, the ends of limbs): their ratios say nothing about thickness. bones must outlive
  // it.
  BoneDistances(const BindingBones& bones, const Rig& rig, const Surface& surface);

  // Smallest posed distance / rest distance. skin: [E] bind space to posed model space. Absent: no
  // vertex has a distance.
  std::optional<double> Least(std::span<const Vec3d> points, std::span<const AffineD> skin,
                              const Task& task) const;

 private:
  struct Carried {
    std::uint32_t point = 0;
    double distance = 0;  // at rest, > 0
  };
  const BindingBones& bones_;
  std::vector<Carried> carried_;
};

}  // namespace sinew::metrics
