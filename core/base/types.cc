#include "core/base/types.h"

#include <cmath>

namespace sinew {

AffineD ToDouble(const Affine& a) {
  AffineD r;
  for (std::size_t i = 0; i < 12; ++i) r.m[i] = a.m[i];
  return r;
}

Affine ToFloat(const AffineD& a) {
  Affine r;
  for (std::size_t i = 0; i < 12; ++i) r.m[i] = static_cast<float>(a.m[i]);
  return r;
}

AffineD Compose(const AffineD& a, const AffineD& b) {
  AffineD r;
  for (std::size_t i = 0; i < 3; ++i) {
    const double* const row = a.m.data() + i * 4;
    const double translation[4] = {0, 0, 0, row[3]};
    for (std::size_t j = 0; j < 4; ++j) {  // whole rows, which the compiler vectorises
      r.m[i * 4 + j] = row[0] * b.m[j] + row[1] * b.m[4 + j] + row[2] * b.m[8 + j] + translation[j];
    }
  }
  return r;
}

Vec3d Apply(const AffineD& a, const Vec3d& p) {
  return {a.m[0] * p.x + a.m[1] * p.y + a.m[2] * p.z + a.m[3],
          a.m[4] * p.x + a.m[5] * p.y + a.m[6] * p.z + a.m[7],
          a.m[8] * p.x + a.m[9] * p.y + a.m[10] * p.z + a.m[11]};
}

Mat3d Linear(const AffineD& a) {
  return {{a.m[0], a.m[1], a.m[2], a.m[4], a.m[5], a.m[6], a.m[8], a.m[9], a.m[10]}};
}

Vec3d Translation(const AffineD& a) {
  return {a.m[3], a.m[7], a.m[11]};
}

std::optional<AffineD> UsefulInverse(const AffineD& a) {
  constexpr double kSingular = 1e-9;
  const Mat3d linear = Linear(a);
  double square = 0;
  for (const double m : linear.m) square += m * m;
  if (!(std::abs(Determinant(linear)) > kSingular * square * std::sqrt(square))) return {};
  return Inverse(a);
}

double Determinant(const Mat3d& a) {
  return a.m[0] * (a.m[4] * a.m[8] - a.m[5] * a.m[7]) -
         a.m[1] * (a.m[3] * a.m[8] - a.m[5] * a.m[6]) +
         a.m[2] * (a.m[3] * a.m[7] - a.m[4] * a.m[6]);
}

AffineD Inverse(const AffineD& a) {
  const Mat3d l = Linear(a);
  const double s = 1.0 / Determinant(l);
  const Mat3d i = {
      {s * (l.m[4] * l.m[8] - l.m[5] * l.m[7]), s * (l.m[2] * l.m[7] - l.m[1] * l.m[8]),
       s * (l.m[1] * l.m[5] - l.m[2] * l.m[4]), s * (l.m[5] * l.m[6] - l.m[3] * l.m[8]),
       s * (l.m[0] * l.m[8] - l.m[2] * l.m[6]), s * (l.m[2] * l.m[3] - l.m[0] * l.m[5]),
       s * (l.m[3] * l.m[7] - l.m[4] * l.m[6]), s * (l.m[1] * l.m[6] - l.m[0] * l.m[7]),
       s * (l.m[0] * l.m[4] - l.m[1] * l.m[3])}};
  const Vec3d t = Multiply(i, Translation(a));
  return {
      {i.m[0], i.m[1], i.m[2], -t.x, i.m[3], i.m[4], i.m[5], -t.y, i.m[6], i.m[7], i.m[8], -t.z}};
}

Mat3d Multiply(const Mat3d& a, const Mat3d& b) {
  Mat3d r;
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t j = 0; j < 3; ++j) {
      r.m[i * 3 + j] =
          a.m[i * 3] * b.m[j] + a.m[i * 3 + 1] * b.m[3 + j] + a.m[i * 3 + 2] * b.m[6 + j];
    }
  }
  return r;
}

Vec3d Multiply(const Mat3d& a, const Vec3d& v) {
  return {a.m[0] * v.x + a.m[1] * v.y + a.m[2] * v.z, a.m[3] * v.x + a.m[4] * v.y + a.m[5] * v.z,
          a.m[6] * v.x + a.m[7] * v.y + a.m[8] * v.z};
}

Mat3d Cofactor(const Mat3d& a) {
  const auto& m = a.m;
  return {{m[4] * m[8] - m[5] * m[7], m[5] * m[6] - m[3] * m[8], m[3] * m[7] - m[4] * m[6],
           m[7] * m[2] - m[8] * m[1], m[8] * m[0] - m[6] * m[2], m[6] * m[1] - m[7] * m[0],
           m[1] * m[5] - m[2] * m[4], m[2] * m[3] - m[0] * m[5], m[0] * m[4] - m[1] * m[3]}};
}

Mat3d Transpose(const Mat3d& a) {
  return {{a.m[0], a.m[3], a.m[6], a.m[1], a.m[4], a.m[7], a.m[2], a.m[5], a.m[8]}};
}

}  // namespace sinew
