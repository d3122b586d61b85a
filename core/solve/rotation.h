// rotation.h - nearest rotation to a 3x3 matrix in double: used for joints, and for lanes where the
// float kernel is too inaccurate.
#pragma once

#include "core/base/types.h"

namespace sinew {

struct NearestRotationResult {
  Mat3d rotation;       // det = +1; the identity when not unique
  bool unique = false;  // false: h is 0 or (s2 + sign(det) s3) / |h|_F < 1e-9
};

// The rotation R that maximises tr(R^T h) over det R = +1, for singular values s1 >= s2 >= s3 of h.
// Closed form from the largest root of the quartic in s1 + s2 + sign(det) s3 (24 Newton steps),
// which covers reflections and rank 2. Near ambiguity an SVD with the determinant fix is used
// instead.
NearestRotationResult NearestRotation(const Mat3d& h);

}  // namespace sinew
