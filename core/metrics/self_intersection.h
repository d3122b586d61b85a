// self_intersection.h - which faces of a mesh cut through each other.
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

// How far the search goes; beyond it the pose is beyond measure. A mesh of a client's making can
// have every face overlap every other.
struct Budget {
  std::size_t pairs;  // crossings found; those of one triangle with one face may count once
  std::size_t steps;  // boxes looked at and corners compared

  // A character needs 100 to 200 steps a triangle.
  static Budget For(const Surface& surface) {
    return {kMaxPairs, 100'000'000 + 1000 * surface.triangles.size()};
  }
  static constexpr std::size_t kMaxPairs = 500'000;
};

// Pairs of faces without a common welded point that cross, each once, rising. Two triangles cross
// where an edge of one passes through the other (its border counts) with both its ends more than
// 1e-6 of the rest diagonal off the other's plane: faces that lie upon each other or meet edge on
// edge do not cross, one that ends exactly on another may. Bounding boxes in a tree (Eigen's
// KdBVH), triangles tested in double; O(T log T) for surfaces. Absent: the budget is passed, for
// any number of threads alike. kCancelled.
absl::StatusOr<std::optional<std::vector<FacePair>>> CrossingFaces(const Rig& rig,
                                                                   const Surface& surface,
                                                                   std::span<const Vec3d> points,
                                                                   const Task& task);
absl::StatusOr<std::optional<std::vector<FacePair>>> CrossingFaces(const Rig& rig,
                                                                   const Surface& surface,
                                                                   std::span<const Vec3d> points,
                                                                   const Task& task,
                                                                   const Budget& budget);

}  // namespace sinew::metrics
