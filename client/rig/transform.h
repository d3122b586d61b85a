// transform.h - affine transforms and their translation, rotation, scale form, in double.
//
// Column vectors, 3x4 row-major as everywhere in the rig; quaternions are x, y, z, w as in glTF.
#pragma once

#include <array>

namespace sinew::client {

using Quaternion = std::array<double, 4>;  // x, y, z, w

struct Affine {
  std::array<double, 12> m = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0};
};

struct Trs {
  std::array<double, 3> translation = {0, 0, 0};
  Quaternion rotation = {0, 0, 0, 1};
  std::array<double, 3> scale = {1, 1, 1};
};

Affine operator*(const Affine& a, const Affine& b);

// translation * rotation * scale. The quaternion's length does not matter; zero counts as no
// rotation.
Affine Compose(const Trs& trs);

// The nearest translation, rotation, scale form; shear is dropped. A mirrored matrix gets a
// negative x scale.
Trs Decompose(const Affine& a);

// The inverse; of a singular matrix the result is not finite.
Affine Inverse(const Affine& a);

// Spherical interpolation along the shorter arc, u in [0, 1]. Inputs of any non-zero length.
Quaternion Slerp(const Quaternion& a, const Quaternion& b, double u);

}  // namespace sinew::client
