// overlap.h - the volume that a closed surface encloses more than once, or inside out.
//
// Unlike the number of crossing faces, it does not depend on the resolution of the mesh.
#pragma once

#include <absl/status/statusor.h>

#include <cstddef>
#include <optional>
#include <span>

#include "core/metrics/surface.h"

namespace sinew::metrics {

// Integrals over the winding number w, scene units^3.
struct Overlap {
  double twice = 0;             // of w - 1 where w is 2 or more
  double inside_out = 0;        // of -w where w is negative
  double inside_out_twice = 0;  // of -w - 1 where w is -2 or less: `twice` of the mirrored surface

  // Bytes needed for measuring, without the points.
  static std::size_t Cost(std::size_t triangles);
};

// Casts columns along z, 440 along the longer side of the bounds in x and y; each column's enclosed
// length is exact. triangles: closed, outward. Independent of the number of threads. Absent: more
// layers or larger triangles than a surface can have (the work limit). kCancelled.
absl::StatusOr<std::optional<Overlap>> MeasureOverlap(std::span<const Triangle> triangles,
                                                      std::span<const Vec3d> points,
                                                      const Task& task);

}  // namespace sinew::metrics
