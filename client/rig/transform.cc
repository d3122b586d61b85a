#include "client/rig/transform.h"

#include <cmath>
#include <cstddef>

namespace sinew::client {
namespace {

Quaternion Normalised(const Quaternion& q) {
  const double length = std::sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
  if (!(length > 0)) return {0, 0, 0, 1};
  return {q[0] / length, q[1] / length, q[2] / length, q[3] / length};
}

// Rotation matrix (columns) to quaternion by the largest component, which never divides by a small
// number.
Quaternion FromRotation(const double r[3][3]) {
  const double trace = r[0][0] + r[1][1] + r[2][2];
  if (trace > 0) {
    const double w = 0.5 * std::sqrt(1 + trace);
    return {(r[2][1] - r[1][2]) / (4 * w), (r[0][2] - r[2][0]) / (4 * w),
            (r[1][0] - r[0][1]) / (4 * w), w};
  }
  std::size_t i = 0;
  if (r[1][1] > r[0][0]) i = 1;
  if (r[2][2] > r[i][i]) i = 2;
  const std::size_t j = (i + 1) % 3, k = (i + 2) % 3;
  Quaternion q{};
  q[i] = 0.5 * std::sqrt(std::fmax(0.0, 1 + r[i][i] - r[j][j] - r[k][k]));
  if (q[i] == 0) return {0, 0, 0, 1};
  q[j] = (r[j][i] + r[i][j]) / (4 * q[i]);
  q[k] = (r[k][i] + r[i][k]) / (4 * q[i]);
  q[3] = (r[k][j] - r[j][k]) / (4 * q[i]);
  return q;
}

}  // namespace

Affine operator*(const Affine& a, const Affine& b) {
  Affine out;
  for (std::size_t row = 0; row < 3; ++row) {
    const double* left = &a.m[row * 4];
    for (std::size_t column = 0; column < 4; ++column) {
      out.m[row * 4 + column] =
          left[0] * b.m[column] + left[1] * b.m[4 + column] + left[2] * b.m[8 + column];
    }
    out.m[row * 4 + 3] += left[3];
  }
  return out;
}

Affine Compose(const Trs& trs) {
  const Quaternion q = Normalised(trs.rotation);
  const double x = q[0], y = q[1], z = q[2], w = q[3];
  const double rotation[3][3] = {
      {1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)},
      {2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)},
      {2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)}};
  Affine out;
  for (std::size_t row = 0; row < 3; ++row) {
    for (std::size_t column = 0; column < 3; ++column) {
      out.m[row * 4 + column] = rotation[row][column] * trs.scale[column];
    }
    out.m[row * 4 + 3] = trs.translation[row];
  }
  return out;
}

Trs Decompose(const Affine& a) {
  Trs out;
  double r[3][3];
  for (std::size_t column = 0; column < 3; ++column) {
    const double x = a.m[column], y = a.m[4 + column], z = a.m[8 + column];
    out.scale[column] = std::sqrt(x * x + y * y + z * z);
    const double inverse = out.scale[column] > 0 ? 1 / out.scale[column] : 0;
    r[0][column] = x * inverse;
    r[1][column] = y * inverse;
    r[2][column] = z * inverse;
    out.translation[column] = a.m[column * 4 + 3];
  }
  const double determinant = r[0][0] * (r[1][1] * r[2][2] - r[1][2] * r[2][1]) -
                             r[0][1] * (r[1][0] * r[2][2] - r[1][2] * r[2][0]) +
                             r[0][2] * (r[1][0] * r[2][1] - r[1][1] * r[2][0]);
  if (determinant < 0) {
    out.scale[0] = -out.scale[0];
    for (auto& row : r) row[0] = -row[0];
  }
  out.rotation = determinant == 0 ? Quaternion{0, 0, 0, 1} : FromRotation(r);
  return out;
}

Affine Inverse(const Affine& a) {
  const auto& m = a.m;
  const double c00 = m[5] * m[10] - m[6] * m[9];
  const double c01 = m[6] * m[8] - m[4] * m[10];
  const double c02 = m[4] * m[9] - m[5] * m[8];
  const double inverse = 1 / (m[0] * c00 + m[1] * c01 + m[2] * c02);
  Affine out;
  out.m = {c00 * inverse,
           (m[2] * m[9] - m[1] * m[10]) * inverse,
           (m[1] * m[6] - m[2] * m[5]) * inverse,
           0,
           c01 * inverse,
           (m[0] * m[10] - m[2] * m[8]) * inverse,
           (m[2] * m[4] - m[0] * m[6]) * inverse,
           0,
           c02 * inverse,
           (m[1] * m[8] - m[0] * m[9]) * inverse,
           (m[0] * m[5] - m[1] * m[4]) * inverse,
           0};
  for (std::size_t row = 0; row < 3; ++row) {
    double* r = &out.m[row * 4];
    r[3] = -(r[0] * m[3] + r[1] * m[7] + r[2] * m[11]);
  }
  return out;
}

Quaternion Slerp(const Quaternion& a, const Quaternion& b, double u) {
  const Quaternion p = Normalised(a);
  Quaternion q = Normalised(b);
  double cosine = p[0] * q[0] + p[1] * q[1] + p[2] * q[2] + p[3] * q[3];
  if (cosine < 0) {
    cosine = -cosine;
    for (double& component : q) component = -component;
  }
  double weight_p = 1 - u, weight_q = u;
  // Nearly equal: the sine is too small to divide by, and the chord is as good as the arc.
  if (cosine < 1 - 1e-12) {
    const double angle = std::acos(cosine);
    weight_p = std::sin((1 - u) * angle) / std::sin(angle);
    weight_q = std::sin(u * angle) / std::sin(angle);
  }
  Quaternion out;
  for (std::size_t i = 0; i < 4; ++i) out[i] = weight_p * p[i] + weight_q * q[i];
  return Normalised(out);
}

}  // namespace sinew::client
