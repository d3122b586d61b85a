// refit_shapes.h - lets shapes that act together share what is left, in poses of many joints.
//
// Shapes of single joints add up only about where several joints move the same skin. With their
// values in some poses given, their offsets are changed so that the sum of them comes nearer to
// what linear blend lacks there: least squares with a pull towards the offsets they have, vertex by
// vertex.
#pragma once

#include <absl/functional/function_ref.h>
#include <absl/status/status.h>

#include <cstddef>
#include <span>

#include "core/base/types.h"
#include "core/distil/corrective_shapes.h"
#include "core/parallel/task.h"

namespace sinew {

// What is lacking at rest of the vertices [begin, end) in every pose, [end - begin][poses].
using FillResiduals =
    absl::FunctionRef<absl::Status(std::size_t begin, std::size_t end, std::span<Vec3f> residuals)>;

// How much of some shapes some poses need.
struct ShapeValues {
  std::span<const double> values;   // [poses][shapes]
  std::span<const double> weights;  // [poses] how much each pose counts, at least 0

  std::size_t poses() const { return weights.size(); }
};

// Changes the offsets of the vertices that a shape moves; no shape gets further ones.
//
//    n           vertices; `residuals` is asked for one block of them after the other
//    least_gain  a shape keeps a vertex only if that lowers the sum of squares there by so many
//                times what is left in a pose, in the mean; 0 = keeps all. Few offsets are smaller
//                files, and fit poses that were not given almost as well.
// Advances the task by n. kCancelled; errors of `residuals`.
absl::Status RefitShapes(std::span<CorrectiveShape* const> shapes, const ShapeValues& given,
                         std::size_t n, FillResiduals residuals, Task& task, double least_gain = 0);

}  // namespace sinew
