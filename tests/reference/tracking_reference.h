// tracking_reference.h - where one step of tracking starts its projection, in double.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/types.h"
#include "core/rig/rig.h"

namespace sinew::reference {

struct TrackingStep {
  std::span<const std::int32_t> part_of_binding;  // [E] -1 = none
  std::vector<AffineD> motions;                   // [parts] since the previous pose
  std::vector<Vec3d> previous, skinned;           // [V]
  std::vector<double> tracked;  // [V] how much a vertex starts from its previous position
  double farthest = 0;          // from the skinned position
  double kept = 0;              // share of the distance from there, per step
};

std::vector<Vec3d> TrackingStarts(const Rig& rig, const TrackingStep& step);

}  // namespace sinew::reference
