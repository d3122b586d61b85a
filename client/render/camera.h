// camera.h - where a picture is taken from, and framing that fits it to the shown meshes.
#pragma once

#include <absl/status/statusor.h>

#include <array>
#include <optional>
#include <span>

#include "sinew/rig_data.h"

namespace sinew::client {

using Point = std::array<double, 3>;

struct Camera {
  Point eye = {0, 0, 5};       // scene units
  Point target = {0, 0, 0};    // looked at
  Point up = {0, 1, 0};        // unit length; also the normal of the ground
  double field_of_view = 0.5;  // radians, from the lower to the upper edge of the picture, (0, 3]
  double ground = 0;           // scene units along `up`: height of the ground
};

// Part of the picture's height and width left free on each side.
inline constexpr double kMargin = 0.08;

struct Framing {
  UpAxis up = UpAxis::kY;             // kUnspecified counts as kY
  double azimuth = 35;                // degrees around `up`; 0 looks at the front (along -Z or +Y)
  double elevation = 14;              // degrees above the horizon, [-85, 85]
  double aspect = 16.0 / 9;           // width / height of the picture
  double zoom = 1;                    // magnification: above 1, less than the whole mesh is seen
  std::optional<Point> look_at = {};  // the middle of the picture; unset = the middle of the mesh
};

// The camera that sees all points of all `meshes` (each [V * 3], scene units) as large as the
// margin allows, centred; then turned to `look_at` and zoomed. Pass the frames of several methods,
// or of a whole clip, to get comparable pictures. The ground lies below the lowest point. Cost
// O(points), exact, no search. kInvalidArgument: no point, a point not finite.
absl::StatusOr<Camera> FrameMeshes(std::span<const std::span<const float>> meshes,
                                   const Framing& framing);

}  // namespace sinew::client
