// signed_rotation.h - the rule by which mirrored transforms are factored, everywhere.
//
// A 3x3 matrix is A = s R P: the sign s of its determinant, the rotation R nearest to s A, and a
// stretch P, symmetric and positive semidefinite. A mirror is the point reflection -I and a
// rotation. Since -I commutes with every matrix, no axis is preferred, results follow mirrors as
// they follow rotations, and a method that rotates an arm d by R has to rotate s d.
//
// Rotations of joints with different signs have no meaningful blend: on the way from one to the
// other space is flattened. Methods blend them as they are and use the sign of the pivot, so the
// result is finite, and exact where the pivot's weight is 1.
#pragma once

#include "core/base/types.h"

namespace sinew {

// -1 if a matrix mirrors, else 1, also where it flattens space.
double SignOf(const Mat3d& a);
// Whether a matrix is so close to flattening space that its sign may be that of another matrix near
// it: a joint then uses the sign of its parent, so that nothing jumps where it is scaled to zero.
bool IsThin(const Mat3d& a);

struct SignedRotation {
  double sign = 1;
  Mat3d rotation;       // det = +1; the identity when not unique
  bool unique = false;  // see NearestRotation
};
// sign: s, usually SignOf(a).
SignedRotation Factor(const Mat3d& a, double sign);

}  // namespace sinew
