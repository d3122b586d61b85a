// sequence.h - an animated mesh as decompositions read it: by points, each with its places in all
// frames.
#pragma once

#include <absl/status/statusor.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/base/types.h"
#include "core/mesh/mesh.h"
#include "core/parallel/task.h"
#include "core/surface/adjacency.h"

namespace sinew::decompose {

inline constexpr std::uint32_t kNone = 0xffffffff;

// Places are relative to `centre`, so that sums of products keep their digits.
struct Sequence {
  // points: [frames][vertices of rest], finite. kResourceExhausted, kCancelled.
  static absl::StatusOr<Sequence> Create(const Mesh& rest, std::span<const Vec3f> points,
                                         std::size_t frames, const Task& task);
  // What Create and the result need.
  static std::size_t Bytes(std::size_t vertices, std::size_t frames);

  std::size_t points() const { return rest.size(); }
  // [frames] of point p.
  std::span<const Vec3f> row(std::size_t p) const {
    return std::span(targets).subspan(p * frames, frames);
  }
  // The sum over all frames of the squared error of a point that is as good as exact.
  double exact() const { return static_cast<double>(frames) * rounding * rounding; }

  std::size_t frames = 0;
  Vec3d centre;
  double diagonal = 0;  // of the rest mesh
  double rounding = 0;  // differences up to this length mean nothing
  // [V] point of a vertex. Vertices at one place are one point if they move together.
  std::vector<std::uint32_t> point;
  std::vector<Vec3f> rest;                // [P]
  std::vector<Vec3f> targets;             // [P][frames]
  Adjacency neighbours;                   // by edges
  std::vector<double> closeness;          // [neighbours] parts of 1 in each row; see sequence.cc
  std::vector<std::uint32_t> components;  // [P] lowest point that edges connect it with
};

}  // namespace sinew::decompose
