// types.h - plain value types shared by all layers: points, matrices, dual quaternions.
//
// PODs without Eigen, for kernels and public headers. Matrices are row-major and act on column
// vectors: m[r * 3 + c], for affines m[r * 4 + c] without the last row 0 0 0 1. Lengths are scene
// units. Nothing validates its input; NaN and infinity propagate. float is for data that kernels
// read, double for the computations that produce it, rounded once.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace sinew {

// Points, directions and offsets. A Vec4f is a tangent with its handedness in w.
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

struct Mat3 {
  std::array<float, 9> m{1, 0, 0, 0, 1, 0, 0, 0, 1};
};
struct Mat3d {
  std::array<double, 9> m{1, 0, 0, 0, 1, 0, 0, 0, 1};
};

// A transform: applied to points with the translation m[3], m[7], m[11], to directions without.
struct Affine {
  std::array<float, 12> m{1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0};
};
struct AffineD {
  std::array<double, 12> m{1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0};
};

// A rigid transform: unit quaternion (w, x, y, z) and 0.5 * (0, t) * real.
struct DualQuat {
  std::array<float, 4> real{1, 0, 0, 0};
  std::array<float, 4> dual{0, 0, 0, 0};
};

// Clients and kernels rely on the layout of arrays of these.
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

// To double: exact. To float: rounded to nearest; values beyond float's range become infinity.
AffineD ToDouble(const Affine& a);
Affine ToFloat(const AffineD& a);

// The transform that applies b first, then a.
AffineD Compose(const AffineD& a, const AffineD& b);
Vec3d Apply(const AffineD& a, const Vec3d& p);
// The left 3x3 block.
Mat3d Linear(const AffineD& a);
Vec3d Translation(const AffineD& a);
// The determinant must not be 0.
AffineD Inverse(const AffineD& a);
// That, unless |det| is below 1e-9 of the cube of the norm: then it would be rounding.
std::optional<AffineD> UsefulInverse(const AffineD& a);
double Determinant(const Mat3d& a);
// det(a) a^-T for an invertible a; rows are the cross products of the rows of a.
Mat3d Cofactor(const Mat3d& a);
// The products a b and a v.
Mat3d Multiply(const Mat3d& a, const Mat3d& b);
Vec3d Multiply(const Mat3d& a, const Vec3d& v);
Mat3d Transpose(const Mat3d& a);

}  // namespace sinew
