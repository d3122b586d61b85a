// product_shapes.h - shapes for joints that act together, driven by products of their turns.
//
// Where two joints move the same skin, what linear blend lacks is not the sum of what it lacks for
// each of them. What is left is, for the most part, bilinear in the turns of the two. Such terms of
// a joint with each of several others are often alike, as with the bones of a spine, so that a few
// shapes hold most of them: the main components of all terms of a joint. Each becomes two shapes,
// one that is added and one that is subtracted, for players may clamp morph weights to 0 and 1.
//
// Components are fitted to products of turns about their means, so that they are apart from what
// depends on one joint alone. What is played are products of the turns themselves. Where the means
// are away from rest, these differ by terms linear in the turns and a constant: RefitShapes, which
// gives the shapes their offsets, has to be given the played values (TurnProducts::Sum), so that
// all shapes together make up for them as well as they can.
#pragma once

#include <absl/status/statusor.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/base/types.h"
#include "core/distil/corrective_shapes.h"
#include "core/distil/refit_shapes.h"
#include "core/parallel/task.h"

namespace sinew {

// A sum of products: turn of `joint` times matrix times turn of each other joint. None while
// `joint` is at rest, and none while all others are.
struct TurnProducts {
  struct Other {
    std::uint32_t joint = 0;
    Mat3d matrix = {};
  };
  std::uint32_t joint = 0;
  std::vector<Other> others;

  double Sum(std::span<const Vec3d> turns) const;  // turns: of all joints
};

// Two shapes: the value of one is the sum, that of the other minus the sum, both clamped to 0
// and 1.
struct ProductShapes {
  TurnProducts driver;
  CorrectiveShape added, subtracted;  // the vertices that the joints move; offsets are zero
};

// The number of vertices that FindProductShapes looks at, of n: at most 1024.
std::size_t ProductPlaces(std::size_t n);

struct ProductLimits {
  std::size_t sums = 0;     // at most so many, each of them drives two shapes
  double least_offset = 0;  // a vertex that no shape of a joint moves farther, it does not move
};

// The sums that explain most of what the shapes leave after a refit, the best first. At a place,
// the eight joints whose shapes move it most take part, and a joint has at most eight others. No
// pose that is given needs more than 0.8 of a shape.
//
//    joints     [shapes] the joint of each
//    turns      [poses][J] of all joints
//    n          vertices; `residuals` is asked for ProductPlaces of them
// Advances the task by twice their number. kCancelled; errors of `residuals`.
absl::StatusOr<std::vector<ProductShapes>> FindProductShapes(
    std::span<const CorrectiveShape* const> shapes, std::span<const std::uint32_t> joints,
    const ShapeValues& given, std::span<const std::vector<Vec3d>> turns, std::size_t n,
    const ProductLimits& limits, FillResiduals residuals, Task& task);

}  // namespace sinew
