// muscle_reference.h - the field of an ellipsoid and of a straight spindle in double, from the
// formulas.
#pragma once

#include "core/base/types.h"
#include "core/muscle/muscle.h"

namespace sinew::reference {

struct MuscleField {
  double value;
  Vec3d gradient;
};

// f = k0 (k0 - 1) / k1, k0 = |p / r|, k1 = |p / r^2|; p along the ellipsoid's axes, not 0.
MuscleField EllipsoidField(const Vec3d& p, const Vec3d& r);

// A round spindle along x from 0 to `length`: (|yz| - rho(u)) / sqrt(1 + rho'(u)^2), u the nearest
// point of the axis; by central differences.
MuscleField SpindleField(const Vec3d& p, double length, double radius, MuscleProfile profile,
                         double warp);

// The compact field t(f / r).
double Compact(double f, double r);

}  // namespace sinew::reference
