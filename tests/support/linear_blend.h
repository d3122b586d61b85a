// linear_blend.h - linear blend skinning of imported rigs in double.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "sinew/rig_data.h"

namespace sinew::testing {

using Point = std::array<double, 3>;

inline Point Transform(const float* m, const Point& p) {
  Point out{};
  for (std::size_t row = 0; row < 3; ++row) {
    out[row] = static_cast<double>(m[row * 4]) * p[0] + static_cast<double>(m[row * 4 + 1]) * p[1] +
               static_cast<double>(m[row * 4 + 2]) * p[2] + static_cast<double>(m[row * 4 + 3]);
  }
  return out;
}

// [V] vertices of `mesh` in frame i of the clip (counted in the clip's samples).
inline std::vector<Point> LinearBlend(const client::RigData& rig, const client::Mesh& mesh,
                                      const client::ClipData& clip, std::size_t frame) {
  const float* joints = &clip.joint_transforms[frame * rig.joints.size() * 12];
  std::vector<Point> out;
  std::size_t at = 0;
  for (std::size_t v = 0; v < mesh.vertices(); ++v) {
    const Point rest = {mesh.positions[v * 3], mesh.positions[v * 3 + 1],
                        mesh.positions[v * 3 + 2]};
    Point sum{};
    const auto add = [&](std::uint32_t slot, double weight) {
      const Point bound = Transform(&mesh.skin.inverse_bind[slot * 12], rest);
      const Point moved = Transform(joints + std::size_t{mesh.skin.joints[slot]} * 12, bound);
      for (std::size_t axis = 0; axis < 3; ++axis) sum[axis] += weight * moved[axis];
    };
    for (std::uint32_t i = 0; i < mesh.skin.influence_counts[v]; ++i, ++at) {
      add(mesh.skin.influence_joints[at], static_cast<double>(mesh.skin.influence_weights[at]));
    }
    if (mesh.skin.influence_counts[v] == 0 && mesh.skin.fallback_joint) {
      add(*mesh.skin.fallback_joint, 1);
    }
    out.push_back(sum);
  }
  return out;
}

}  // namespace sinew::testing
