// self_intersection.h - pairs of faces that intersect.
#pragma once

#include <absl/status/statusor.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "core/metrics/surface.h"

namespace sinew::metrics {

using FacePair = std::pair<std::uint32_t, std::uint32_t>;  // polygons, lower first

// Limit of the search; metrics over budget are absent. In a hostile mesh every face can overlap
// every other.
struct Budget {
  std::size_t pairs;  // crossings found; several of one triangle with one face may count once
  std::size_t steps;  // boxes visited and corners compared

  // Characters need 100 to 200 steps per triangle.
  static Budget For(const Surface& surface) {
    return {kMaxPairs, 100'000'000 + 1000 * surface.triangles.size()};
  }
  static constexpr std::size_t kMaxPairs = 500'000;
};

// Pairs of faces without a common welded point that intersect, each once, sorted. Two triangles
// intersect if an edge of one passes through the other (including its border) with both ends more
// than 1e-6 of the rest diagonal off the other's plane. Coplanar faces and faces meeting edge on
// edge do not intersect; a face ending exactly on another may. Uses a bounding-box tree (Eigen's
// KdBVH) and tests in double; O(T log T) for surfaces. Absent: over budget, independent of the
// number of threads. kCancelled.
absl::StatusOr<std::optional<std::vector<FacePair>>> CrossingFaces(const Rig& rig,
                                                                   const Surface& surface,
                                                                   std::span<const Vec3d> points,
                                                                   const Task& task,
                                                                   const Budget& budget);

}  // namespace sinew::metrics
