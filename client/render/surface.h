// surface.h - a validated, triangulated mesh, moved and scaled to a size suitable for ray tracing
// in float32.
#pragma once

#include <absl/status/statusor.h>

#include <Eigen/Core>
#include <array>
#include <cstdint>
#include <vector>

#include "client/render/render.h"

namespace sinew::client {

struct Surface {
  Eigen::Vector3d centre;  // scene point at the local origin
  double scale =
      1;  // scene unit in units of this surface; its bounding box has a half diagonal of 1

  std::vector<Eigen::Vector3f> points;  // [V + 1], the last is padding that Embree may read
  std::vector<std::array<std::uint32_t, 3>> triangles;  // [T]
  std::vector<std::array<Eigen::Vector3f, 3>> normals;  // [T] unit, one a corner
  std::vector<std::uint8_t> edges;  // [T] bit k: the side opposite corner k is a side of the face
  std::vector<Eigen::Vector3f> albedo;  // [V] linear, or empty

  Eigen::Vector3f ToLocal(const Point& p) const {
    return ((Eigen::Vector3d(p[0], p[1], p[2]) - centre) * scale).cast<float>();
  }
};

// In the local units of `beside`, so that rays can hit both; null = in units of its own.
// kInvalidArgument: see Render.
absl::StatusOr<Surface> MakeSurface(const MeshView& mesh, const Surface* beside = nullptr);

// sRGB in [0, 1] to linear light, and back.
float ToLinear(float srgb);
float ToSrgb(float linear);

}  // namespace sinew::client
