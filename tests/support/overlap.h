// overlap.h - volumes of a posed closed mesh: signed, overlapping, and of the union.
#pragma once

#include <span>

#include "core/metrics/overlap.h"
#include "tests/support/run_method.h"

namespace sinew::testing {

struct OverlapVolumes {
  double signed_volume = 0;
  double overlap = 0;   // integral of w - 1 where the winding number w is 2 or more
  double inverted = 0;  // integral of -w where w is negative
  // Signed volume minus the integral of w - [w >= 1]: its error is proportional to the overlap.
  double Union() const { return signed_volume - overlap + inverted; }
};

inline OverlapVolumes MeasureOverlap(std::span<const Triangle> triangles,
                                     std::span<const Vec3d> points) {
  const auto measured = ValueOrDie(metrics::MeasureOverlap(triangles, points, Task()));
  OverlapVolumes volumes = {.overlap = measured->twice, .inverted = measured->inside_out};
  for (const Triangle& t : triangles) {
    volumes.signed_volume += Dot(points[t[0]], Cross(points[t[1]], points[t[2]])) / 6;
  }
  return volumes;
}

}  // namespace sinew::testing
