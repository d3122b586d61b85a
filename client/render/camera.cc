#include "client/render/camera.h"

#include <absl/strings/str_cat.h>

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace sinew::client {
namespace {

using Eigen::Vector3d;

constexpr double kFieldOfView = 0.45;  // radians, before zooming

// Largest value of each expression over all points; see below.
struct Extremes {
  double right = -std::numeric_limits<double>::infinity(), left = right, top = right,
         bottom = right;
  double near = right;  // towards the camera
  double far = -right, lowest = -right;
};

}  // namespace

absl::StatusOr<Camera> FrameMeshes(std::span<const std::span<const float>> meshes,
                                   const Framing& framing) {
  const double azimuth = framing.azimuth * std::numbers::pi / 180;
  const double elevation = framing.elevation * std::numbers::pi / 180;
  const bool z_up = framing.up == UpAxis::kZ;
  const Vector3d up = z_up ? Vector3d(0, 0, 1) : Vector3d(0, 1, 0);
  const Vector3d front = z_up ? Vector3d(0, -1, 0) : Vector3d(0, 0, 1);
  const Vector3d side = up.cross(front);
  // Camera axes: `back` points from the target to the eye.
  const Vector3d level = std::cos(azimuth) * front + std::sin(azimuth) * side;
  const Vector3d back = std::cos(elevation) * level + std::sin(elevation) * up;
  const Vector3d right = up.cross(back).normalized();
  const Vector3d top = back.cross(right);
  const double slope_y = std::tan(kFieldOfView / 2) * (1 - 2 * kMargin);
  const double slope_x = slope_y * framing.aspect;

  // A point at (x, y, z) is inside if |x - eye.x| <= slope_x * (eye.z - z), and likewise y: four
  // linear bounds, whose largest right-hand sides give the nearest eye in closed form.
  Extremes extreme;
  for (const auto& positions : meshes) {
    for (std::size_t k = 0; k + 2 < positions.size(); k += 3) {
      const Vector3d p(positions[k], positions[k + 1], positions[k + 2]);
      if (!p.allFinite()) {
        return absl::InvalidArgumentError(
            absl::StrCat("positions: vertex ", k / 3, " is not finite"));
      }
      const double x = right.dot(p), y = top.dot(p), z = back.dot(p);
      extreme.right = std::max(extreme.right, x + slope_x * z);
      extreme.left = std::max(extreme.left, -x + slope_x * z);
      extreme.top = std::max(extreme.top, y + slope_y * z);
      extreme.bottom = std::max(extreme.bottom, -y + slope_y * z);
      extreme.near = std::max(extreme.near, z);
      extreme.far = std::min(extreme.far, z);
      extreme.lowest = std::min(extreme.lowest, up.dot(p));
    }
  }
  if (!std::isfinite(extreme.near)) {
    return absl::InvalidArgumentError("positions: 0 vertices, need at least 1");
  }
  const double depth = std::max((extreme.right + extreme.left) / (2 * slope_x),
                                (extreme.top + extreme.bottom) / (2 * slope_y));
  // A mesh without width in this view (a point, a line along the view) gives no distance: use a
  // fixed one.
  const double offset =
      std::max({1e-3 * (extreme.near - extreme.far), 1e-6 * std::abs(extreme.near), 1e-6});
  const bool has_width = depth - extreme.near > 1e-9 * std::abs(extreme.near);
  const double eye_z = has_width ? depth : extreme.near + offset;
  const double eye_x = (extreme.right - extreme.left) / 2,
               eye_y = (extreme.top - extreme.bottom) / 2;
  Vector3d target = right * eye_x + top * eye_y + back * extreme.near;
  Vector3d eye = target + back * (eye_z - extreme.near);
  if (framing.look_at) {
    const Vector3d at(framing.look_at->data()), away = eye - target;
    const double length = away.norm();
    const double in_front = (away / length).dot(eye - at);
    target = at;
    eye = at + away / length * (in_front > 0 ? in_front : length);
  }
  Camera camera;
  camera.eye = {eye.x(), eye.y(), eye.z()};
  camera.target = {target.x(), target.y(), target.z()};
  camera.up = {up.x(), up.y(), up.z()};
  camera.field_of_view = 2 * std::atan(std::tan(kFieldOfView / 2) / framing.zoom);
  camera.ground = extreme.lowest;
  return camera;
}

}  // namespace sinew::client
