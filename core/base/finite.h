// finite.h - whether many numbers are finite.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace sinew {

// values: float32 in memory, at any alignment; the last one whole. One pass without branches, which
// compilers vectorise.
inline bool AllFinite(std::span<const std::byte> values) {
  constexpr std::uint32_t kExponent = 0x7f800000;
  std::uint32_t wrong = 0;
  for (std::size_t i = 0; i + sizeof(float) <= values.size(); i += sizeof(float)) {
    std::uint32_t bits;
    std::memcpy(&bits, values.data() + i, sizeof bits);
    wrong |= (bits & kExponent) == kExponent ? 1 : 0;
  }
  return wrong == 0;
}

}  // namespace sinew
