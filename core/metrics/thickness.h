// thickness.h - distance of vertices from their bone, posed over rest. Below 1 is collapse (the
// candy-wrapper artefact).
//
// A bone (see binding_bones.h) is posed by its binding's skin matrix. A vertex belongs to the
// binding that has at least half of its weight, if any.
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
  // Ignores vertices nearer to their bone than half the median of that bone's vertices (fingertips,
  // limb ends), whose ratios say nothing about thickness. bones must outlive it.
  BoneDistances(const BindingBones& bones, const Rig& rig, const Surface& surface);

  // Smallest posed distance / rest distance. skin: [E] bind space to posed model space. Absent: no
  // vertex has a bone.
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
