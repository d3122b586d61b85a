// vec4.h - four float lanes, available without dispatch on every 64-bit machine, for loops
// dominated by loads of scattered points.
//
// Use only sums and products (no fused multiply-add), so that the bits are the same everywhere.
#pragma once

#include <cmath>
#include <cstddef>

#include "core/base/types.h"

namespace sinew {

using Vec4 = float __attribute__((vector_size(16), may_alias));

// Element `index` of an array of 16-byte aligned groups of four floats.
inline Vec4 Load4(const float* values, std::size_t index) {
  return *reinterpret_cast<const Vec4*>(values + index * 4);
}
inline void Store4(const Vec4& value, float* values, std::size_t index) {
  *reinterpret_cast<Vec4*>(values + index * 4) = value;
}

inline Vec4 ToVec4(const Vec3f& v) {
  return Vec4{v.x, v.y, v.z, 0};
}

// These use the first three lanes. The fourth lane of a cross product is 0.
inline float Dot3(Vec4 a, Vec4 b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}
inline Vec4 Cross3(Vec4 a, Vec4 b) {
  return Vec4{a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0], 0};
}
inline float Length3(Vec4 v) {
  return std::sqrt(Dot3(v, v));
}

// Transposes four elements: component c of all four goes to rows[c][at ...], c < count <= 4.
inline void StoreColumns(const Vec4 (&v)[4], float (*rows)[16], std::size_t at, std::size_t count) {
  const Vec4 low01 = __builtin_shufflevector(v[0], v[1], 0, 4, 1, 5);
  const Vec4 low23 = __builtin_shufflevector(v[2], v[3], 0, 4, 1, 5);
  const Vec4 high01 = __builtin_shufflevector(v[0], v[1], 2, 6, 3, 7);
  const Vec4 high23 = __builtin_shufflevector(v[2], v[3], 2, 6, 3, 7);
  const Vec4 columns[4] = {__builtin_shufflevector(low01, low23, 0, 1, 4, 5),
                           __builtin_shufflevector(low01, low23, 2, 3, 6, 7),
                           __builtin_shufflevector(high01, high23, 0, 1, 4, 5),
                           __builtin_shufflevector(high01, high23, 2, 3, 6, 7)};
  for (std::size_t c = 0; c < count; ++c) Store4(columns[c], rows[c] + at, 0);
}

}  // namespace sinew
