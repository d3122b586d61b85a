// vec4.h - four float lanes, which every 64-bit machine has without dispatch: for loops whose cost
// is loads of scattered points, not arithmetic.
//
// Use plain sums and products (no fused multiply-add), so that the bits are the same everywhere.
#pragma once

#include <cstddef>

namespace sinew {

using Vec4 = float __attribute__((vector_size(16), may_alias));

// Element `index` of an array of four floats each, 16-byte aligned.
inline Vec4 Load4(const float* values, std::size_t index) {
  return *reinterpret_cast<const Vec4*>(values + index * 4);
}
inline void Store4(const Vec4& value, float* values, std::size_t index) {
  *reinterpret_cast<Vec4*>(values + index * 4) = value;
}

}  // namespace sinew
