// rotation.h - nearest rotation to a 3x3 matrix, in double: the reference for joints and for lanes
// a kernel gives up.
#pragma once

#include "core/base/types.h"

namespace sinew {

struct NearestRotationResult {
  Mat3d rotation;       // det = +1; identity when not unique
  bool unique = false;  // false: h is 0 or (s2 + sign(det) s3) / |h|_F < 1e-9
};

// The rotation R maximising tr(R^T h) over det R = +1; singular values s1 >= s2 >= s3 of h.
// Closed form from the largest root of the quartic in s1 + s2 + sign(det) s3 (Newton, 24 steps),
// which handles reflections and rank 2 without special cases; near ambiguity an SVD with the
// determinant fix instead.
NearestRotationResult NearestRotation(const Mat3d& h);

}  // namespace sinew
