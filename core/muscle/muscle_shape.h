// muscle_shape.h - a posed muscle as a field.
//
// f approximates a distance in model space: 0 on the belly, < 0 inside, below the distance
// elsewhere. Ellipsoid: f = k0 (k0 - 1) / k1 with k0 = |p / r|, k1 = |p / r^2|. Generalised
// cylinder: the same in the section at the nearest point of the belly's line, over sqrt(1 +
// slope^2).
#pragma once

#include <cstddef>
#include <vector>

#include "core/base/point_block.h"
#include "core/base/types.h"
#include "core/muscle/posed_muscle.h"

namespace sinew {

struct MuscleShape {
  bool ellipsoid = true;
  std::vector<float> values;         // see muscle_kernel.h
  double least = 1;                  // smallest semi-axis
  double largest = 1, steepest = 1;  // of a cylinder: largest semi-axis across, sqrt(1 + slope^2)
  Vec3d low, high;                   // bounds of the belly's line (cylinder) or centre (ellipsoid)
  Vec3d half;                        // of an ellipsoid's bounding box
};

MuscleShape MakeMuscleShape(const MuscleRow& row, const MuscleState& state);

// f - fat and its outward gradient.
void EvaluateMuscle(const MuscleShape& shape, double fat, const PointBlock& points,
                    FieldBlock& out);

struct MuscleBox {
  Vec3d low, high;
};
// Outside this box f >= value.
MuscleBox BoxBelow(const MuscleShape& shape, double value);

}  // namespace sinew
