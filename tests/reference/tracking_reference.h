// tracking_reference.h - one tracking step in double, directly from its definition, for meshes
// without coincident vertices.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "core/base/types.h"

namespace sinew::reference {

struct TrackingStep {
  std::vector<std::array<std::uint32_t, 3>> triangles;
  std::vector<Vec3d> rest, previous, skinned;
  // Unit gradients of the field at rest, and the same rotated with the vertex's strongest joint.
  std::vector<Vec3d> inward, held;
  std::vector<double> iso;  // negative: follows the input
  double unit = 1, attraction = 0;
  int rounds = 8;
  // Compact fields of single parts in the previous pose, and the motion of each part since.
  std::function<double(std::size_t part, const Vec3d&)> part_before;
  std::vector<AffineD> motion;
  // The composed field of the pose: value and gradient.
  std::function<std::pair<double, Vec3d>(const Vec3d&)> field;
};

std::vector<Vec3d> Track(const TrackingStep& step);

}  // namespace sinew::reference
