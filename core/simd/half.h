// half.h - IEEE 754 16-bit floats as bit patterns, for tables that kernels read with
// Pack::LoadHalf.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace sinew {

inline constexpr std::uint16_t kHalfOne = 0x3c00, kHalfMagnitude = 0x7fff;

// Rounds to nearest, ties to even. Above 65,519: infinity.
inline std::uint16_t ToHalf(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = bits >> 16 & 0x8000u, magnitude = bits & 0x7fffffffu;
  std::uint32_t half = 0x7c00u + (magnitude > 0x7f800000u ? 1u : 0u);
  if (magnitude < 0x38800000u) {  // below 2^-14: multiples of 2^-24
    half = static_cast<std::uint32_t>(std::nearbyint(double{std::fabs(value)} * 0x1p24));
  } else if (magnitude < 0x47800000u) {
    half = (magnitude - 0x38000000u + 0xfffu + (magnitude >> 13 & 1u)) >> 13;
  }
  return static_cast<std::uint16_t>(sign | half);
}

// Exact.
inline float FromHalf(std::uint16_t half) {
  const std::uint32_t sign = (half & 0x8000u) << 16, magnitude = half & 0x7fffu;
  if (magnitude < 0x400u) {
    const float small = static_cast<float>(magnitude) * 0x1p-24f;
    return sign == 0 ? small : -small;
  }
  const std::uint32_t bits = magnitude << 13;
  return std::bit_cast<float>(sign |
                              (magnitude < 0x7c00u ? bits + 0x38000000u : bits | 0x7f800000u));
}

}  // namespace sinew
