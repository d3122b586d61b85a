// rounded_face.h - the smooth surface approximated by a flat face.
//
// Half of Phong tessellation (Boubekeur and Alexa 2008): a point of the face moves halfway to the
// tangent planes of its corners. For a circle of n chords the error is about 35 / n^4 of the
// radius, 0.9 % for eight.
#pragma once

#include <array>
#include <cstddef>

#include "core/base/types.h"

namespace sinew {

// Offset from point `at` of a face to the rounded surface. weights: barycentric coordinates of
// `at`; normals: unit.
inline Vec3d ToRoundedFace(const std::array<Vec3d, 3>& corners, const std::array<Vec3d, 3>& normals,
                           const std::array<double, 3>& weights, const Vec3d& at) {
  Vec3d shift;
  for (std::size_t k = 0; k < 3; ++k) {
    shift = shift + (0.5 * weights[k] * Dot(corners[k] - at, normals[k])) * normals[k];
  }
  return shift;
}

}  // namespace sinew
