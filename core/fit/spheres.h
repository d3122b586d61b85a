// spheres.h - a body as a graph of spheres around points of its medial surface.
#pragma once

#include <absl/status/statusor.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/base/types.h"
#include "core/fit/body.h"
#include "core/parallel/task.h"

namespace sinew::fit {

inline constexpr std::size_t kMaxSpheres = 1000;

struct SphereGraph {
  std::vector<Vec3d> centre;                           // [S] unit space, largest sphere first
  std::vector<double> radius;                          // [S]
  std::vector<std::vector<std::uint32_t>> neighbours;  // [S]
  std::vector<double> distance;       // [S][S] along edges; infinity if there is no path
  std::vector<std::uint16_t> before;  // [S][S] of the path from the first: the last sphere but one

  std::size_t count() const { return centre.size(); }
  double Distance(std::size_t a, std::size_t b) const { return distance[a * count() + b]; }
  std::uint16_t Before(std::size_t from, std::size_t at) const {
    return before[from * count() + at];
  }
  // The spheres of the shortest path from a to b, both included. There must be one.
  std::vector<std::uint16_t> Path(std::size_t a, std::size_t b) const;
};

// Packs spheres, the largest first, so that no centre is in an earlier sphere; joins those that
// overlap, those whose line of centres stays deep inside and away from others, and, by the shortest
// ways inside the body, parts that would have no connection. kCancelled, kResourceExhausted.
absl::StatusOr<SphereGraph> PackSpheres(const Body& body, const Task& task);

}  // namespace sinew::fit
