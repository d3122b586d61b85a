// shape_pairs.h - shapes for two joints together, driven by the product of two values.
//
// Where two joints move the same skin, what linear blend lacks is not the sum of what it lacks for
// each of them. A pair is a further shape whose value is the product of the values of two shapes of
// different joints: none while one of the joints is at rest. Its offsets come from RefitShapes.
#pragma once

#include <absl/status/statusor.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/distil/corrective_shapes.h"
#include "core/distil/refit_shapes.h"
#include "core/parallel/task.h"

namespace sinew {

struct ShapePair {
  std::uint32_t first = 0, second = 0;  // of the shapes
  CorrectiveShape shape;                // with the vertices that both move; its offsets are zero
};

// The number of vertices that FindPairs looks at, of n: at most 1024.
std::size_t PairPlaces(std::size_t n);

struct PairLimits {
  std::size_t pairs = 0;    // at most so many
  double least_offset = 0;  // a vertex that a shape moves less does not count
};

// The pairs that explain most of what the shapes leave after a refit, the best first. Of each
// joint, the first four shapes take part. Of more than 16,384 pairs, those that move the same
// vertices farthest are looked at.
//
//    joints     [shapes] the joint of each
//    n          vertices; `residuals` is asked for PairPlaces of them
// Advances the task by twice their number. kCancelled; errors of `residuals`.
absl::StatusOr<std::vector<ShapePair>> FindPairs(std::span<const CorrectiveShape* const> shapes,
                                                 std::span<const std::uint32_t> joints,
                                                 const ShapeValues& given, std::size_t n,
                                                 const PairLimits& limits, FillResiduals residuals,
                                                 Task& task);

}  // namespace sinew
