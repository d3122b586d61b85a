// overlap.h - how much of space a closed surface encloses more than once, or inside out.
//
// Crossing faces are counted, not weighed: the finer the mesh, the more of them. The volume of
// where a surface lies inside itself does not depend on the mesh.
#pragma once

#include <absl/status/statusor.h>

#include <cstddef>
#include <optional>
#include <span>

#include "core/metrics/surface.h"

namespace sinew::metrics {

// Integrals of the winding number w, scene units^3.
struct Overlap {
  double twice = 0;             // of w - 1 where w is 2 or more
  double inside_out = 0;        // of -w where w is negative
  double inside_out_twice = 0;  // of -w - 1 where w is -2 or less: `twice` of a mirrored surface

  // Bytes that measuring takes, beside the points.
  static std::size_t Cost(std::size_t triangles);
};

// Columns are cast along z, 440 along the longer side of the bounds in x and y; what each encloses
// is exact. triangles: closed, outward. The same bits for any number of threads. Absent: as many
// layers or large triangles lie above each other as no surface has. kCancelled.
absl::StatusOr<std::optional<Overlap>> MeasureOverlap(std::span<const Triangle> triangles,
                                                      std::span<const Vec3d> points,
                                                      const Task& task);

}  // namespace sinew::metrics
