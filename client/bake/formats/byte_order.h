// byte_order.h - float32, float64 and int32 from and to bytes of either order.
//
// For the point-cache formats only. Sinew runs on little-endian machines (x86-64, ARM64), so whole
// frames of little-endian formats are copied and hashed as they are in memory.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

namespace sinew::bake {

static_assert(std::endian::native == std::endian::little,
              "frames are hashed as they lie in memory");

enum class ByteOrder : std::uint8_t { kLittle, kBig };

// Reads a T of 4 or 8 bytes (float, double, std::uint32_t, ...); no alignment needed.
template <class T>
T LoadBytes(const std::byte* bytes, ByteOrder order) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8);
  if constexpr (sizeof(T) == 4) {
    std::uint32_t bits;
    std::memcpy(&bits, bytes, sizeof bits);
    return std::bit_cast<T>(order == ByteOrder::kBig ? __builtin_bswap32(bits) : bits);
  } else {
    std::uint64_t bits;
    std::memcpy(&bits, bytes, sizeof bits);
    return std::bit_cast<T>(order == ByteOrder::kBig ? __builtin_bswap64(bits) : bits);
  }
}

// Appends the 4 bytes of `value` (float or std::uint32_t).
template <class T>
void AppendBytes(T value, ByteOrder order, std::string& out) {
  static_assert(sizeof(T) == 4);
  auto bits = std::bit_cast<std::uint32_t>(value);
  if (order == ByteOrder::kBig) bits = __builtin_bswap32(bits);
  char bytes[sizeof bits];
  std::memcpy(bytes, &bits, sizeof bits);
  out.append(bytes, sizeof bytes);
}

}  // namespace sinew::bake
