// limb_radii.h - the radius of the limb at each point of the skin, by which relative metrics are
// divided.
//
// At a station along a bone it is the median distance from the bone's axis of the rest points near
// that station that the bone carries. The point's own distance says less: it can be tiny where a
// bone runs close under the skin.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/metrics/binding_bones.h"
#include "core/metrics/surface.h"

namespace sinew::metrics {

class LimbRadii {
 public:
  struct Point {
    std::uint32_t point = 0;
    std::uint32_t binding = 0;  // the strongest, whose bone is known
    double radius = 0;          // > 0, bind space
  };
  LimbRadii(const BindingBones& bones, const Surface& surface);
  std::span<const Point> points() const { return points_; }

 private:
  std::vector<Point> points_;
};

}  // namespace sinew::metrics
