// rounded_face.h - the smooth surface that a flat face stands for.
//
// Half of Phong tessellation (Boubekeur and Alexa 2008): a point of the face goes half of the way
// to the tangent planes of its corners. A circle cut into n chords is met within its radius / n^4
// times some 35, 0.9 % for eight.
#pragma once

#include <array>
#include <cstddef>

#include "core/base/types.h"

namespace sinew {

// From point `at` of a face to the rounded surface. weights: barycentric, of `at`; normals: unit.
inline Vec3d ToRoundedFace(const std::array<Vec3d, 3>& corners, const std::array<Vec3d, 3>& normals,
                           const std::array<double, 3>& weights, const Vec3d& at) {
  Vec3d shift;
  for (std::size_t k = 0; k < 3; ++k) {
    shift = shift + (0.5 * weights[k] * Dot(corners[k] - at, normals[k])) * normals[k];
  }
  return shift;
}

}  // namespace sinew
