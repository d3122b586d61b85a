// types.h - the plain values every ring shares: points, matrices, dual quaternions.
//
// PODs without a library, so that kernels and headers stay free of Eigen. Matrices are row-major
// for column vectors: m[r * 3 + c], of an affine m[r * 4 + c], whose last row 0 0 0 1 is not kept.
// Lengths are scene units. Nothing here checks its input or fails; NaN and infinity pass through.
// What is float is data and what kernels read; what is double is how results on the way to them are
// computed, to be rounded once.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace sinew {

// Points, directions and offsets; a Vec4f is a tangent with its handedness in w.
struct Vec3f {
  float x = 0, y = 0, z = 0;
  bool operator==(const Vec3f&) const = default;
};
struct Vec4f {
  float x = 0, y = 0, z = 0, w = 0;
  bool operator==(const Vec4f&) const = default;
};
struct Vec3d {
  double x = 0, y = 0, z = 0;
  bool operator==(const Vec3d&) const = default;
};

// The identity unless set, as an affine is.
struct Mat3 {
  std::array<float, 9> m{1, 0, 0, 0, 1, 0, 0, 0, 1};
};
struct Mat3d {
  std::array<double, 9> m{1, 0, 0, 0, 1, 0, 0, 0, 1};
};

// A motion, or a change of space: applied to points with its translation m[3], m[7], m[11], to
// directions without.
struct Affine {
  std::array<float, 12> m{1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0};
};
struct AffineD {
  std::array<double, 12> m{1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0};
};

// A rigid motion: unit quaternion (w, x, y, z) and 0.5 * (0, t) * real.
struct DualQuat {
  std::array<float, 4> real{1, 0, 0, 0};
  std::array<float, 4> dual{0, 0, 0, 0};
};

// Arrays of these are buffers of clients and tables of kernels.
static_assert(sizeof(Vec3f) == 12 && sizeof(Vec4f) == 16 && sizeof(Affine) == 48 &&
              sizeof(Mat3) == 36);
static_assert(sizeof(DualQuat) == 32);

inline Vec3d operator+(const Vec3d& a, const Vec3d& b) {
  return {a.x + b.x, a.y + b.y, a.z + b.z};
}
inline Vec3d operator-(const Vec3d& a, const Vec3d& b) {
  return {a.x - b.x, a.y - b.y, a.z - b.z};
}
inline Vec3d operator*(double s, const Vec3d& a) {
  return {s * a.x, s * a.y, s * a.z};
}
inline double Dot(const Vec3d& a, const Vec3d& b) {
  return a.x * b.x + a.y * b.y + a.z * b.z;
}
inline Vec3d Cross(const Vec3d& a, const Vec3d& b) {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
inline Vec3d ToDouble(const Vec3f& a) {
  return {a.x, a.y, a.z};
}
inline Vec3f ToFloat(const Vec3d& a) {
  return {static_cast<float>(a.x), static_cast<float>(a.y), static_cast<float>(a.z)};
}

// Exact; and rounded to nearest, beyond float's range to infinity.
AffineD ToDouble(const Affine& a);
Affine ToFloat(const AffineD& a);

// a then-after b: the motion that first applies b, then a.
AffineD Compose(const AffineD& a, const AffineD& b);
// The point p moved by a.
Vec3d Apply(const AffineD& a, const Vec3d& p);
// The left 3x3.
Mat3d Linear(const AffineD& a);
Vec3d Translation(const AffineD& a);
// Inverse of an invertible affine; the determinant must not be 0.
AffineD Inverse(const AffineD& a);
double Determinant(const Mat3d& a);
// a b, and a v.
Mat3d Multiply(const Mat3d& a, const Mat3d& b);
Vec3d Multiply(const Mat3d& a, const Vec3d& v);
Mat3d Transpose(const Mat3d& a);

}  // namespace sinew
