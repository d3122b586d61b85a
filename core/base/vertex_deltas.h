// vertex_deltas.h - the steps of COMPRESSION_ZSTD (sinew/v1/frame.proto) beside zstd: numbers of
// vertices as differences in byte planes, and back. Both directions are here, so that they fit.
//
// Header-only, because the client library uses it and links no library of core. Bytes of numbers
// are little-endian, as this machine's.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

namespace sinew {

// Calls call(Number()) with the unsigned number of `bytes` = 1, 2 or 4 bytes.
template <class Call>
auto WithNumber(std::size_t bytes, Call&& call) {
  if (bytes == 1) return call(std::uint8_t{});
  if (bytes == 2) return call(std::uint16_t{});
  return call(std::uint32_t{});
}

// How positions in Q16 are decoded: origin + step * q.
struct Q16Box {
  std::array<float, 3> origin, step;
};

// Positions in another box: what a quantiser would make of the decoded ones.
//    q, out  [V * 3], x y z each; may be the same
inline void Requantise(std::span<const std::uint16_t> q, const Q16Box& from, const Q16Box& to,
                       std::span<std::uint16_t> out) {
  constexpr float kRoundBias = 12582912.0f;  // 1.5 * 2^23: the sum's lowest bits are the integer
  constexpr std::size_t kPattern = 48;  // coordinates at a time, so that the loop runs in vectors
  std::array<float, kPattern> from_origin, from_step, to_origin, inverse;
  for (std::size_t i = 0; i < kPattern; ++i) {
    from_origin[i] = from.origin[i % 3];
    from_step[i] = from.step[i % 3];
    to_origin[i] = to.origin[i % 3];
    inverse[i] = 1 / to.step[i % 3];
  }
  const auto requantise = [&](std::size_t at, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      const float p = from_origin[i] + from_step[i] * static_cast<float>(q[at + i]);
      const float scaled = (p - to_origin[i]) * inverse[i];
      const float limited = std::max(std::min(scaled, 65535.0f), 0.0f);
      out[at + i] = static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(limited + kRoundBias));
    }
  };
  std::size_t at = 0;
  for (; at + kPattern <= q.size(); at += kPattern) requantise(at, kPattern);
  requantise(at, q.size() - at);
}

// Byte planes of the differences between neighbours of numbers - base.
//    numbers  [V * each]
//    base     as numbers, or empty
//    planes   [bytes of numbers]: the first byte of every vertex, then the second, ...
template <class Number>
void ToPlanes(std::span<const Number> numbers, std::span<const Number> base, std::size_t each,
              std::byte* planes) {
  constexpr int kBits = 8 * sizeof(Number);
  const std::size_t vertices = numbers.size() / each;
  const auto from = [&](std::size_t k, auto&& residual) {
    Number before = 0;
    for (std::size_t v = 0; v < vertices; ++v) {
      const Number here = residual(v * each + k);
      const auto d = static_cast<Number>(here - before);
      const auto sign = static_cast<Number>(-static_cast<Number>(d >> (kBits - 1)));
      const auto z = static_cast<Number>(static_cast<Number>(d << 1) ^ sign);
      for (std::size_t byte = 0; byte < sizeof(Number); ++byte) {
        planes[byte * vertices + v] = static_cast<std::byte>(z >> 8 * byte);
      }
      before = here;
    }
    planes += sizeof(Number) * vertices;
  };
  for (std::size_t k = 0; k < each; ++k) {
    if (base.empty()) {
      from(k, [&](std::size_t i) { return numbers[i]; });
    } else {
      from(k, [&](std::size_t i) { return static_cast<Number>(numbers[i] - base[i]); });
    }
  }
}

// The numbers of which ToPlanes made these planes.
template <class Number>
void FromPlanes(const std::byte* planes, std::span<const Number> base, std::size_t each,
                std::span<Number> numbers) {
  const std::size_t vertices = numbers.size() / each;
  for (std::size_t k = 0; k < each; ++k, planes += sizeof(Number) * vertices) {
    Number r = 0;
    for (std::size_t v = 0; v < vertices; ++v) {
      Number z = 0;
      for (std::size_t byte = 0; byte < sizeof(Number); ++byte) {
        z = static_cast<Number>(z | static_cast<Number>(planes[byte * vertices + v]) << 8 * byte);
      }
      r = static_cast<Number>(r + (static_cast<Number>(z >> 1) ^ static_cast<Number>(-(z & 1))));
      numbers[v * each + k] = r;
    }
  }
  for (std::size_t i = 0; i < base.size(); ++i) {
    numbers[i] = static_cast<Number>(numbers[i] + base[i]);
  }
}

}  // namespace sinew
