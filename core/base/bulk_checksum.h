// bulk_checksum.h - the checksum of much data, such as the arrays of a frame or a whole file:
// XXH3-64 with seed 0 of its bytes in order (xxHash 0.8), the same on every machine. It finds
// damage; it does not protect against a sender who means harm.
//
// Header-only, because the client library uses it and links no library of core.
#pragma once

#include <xxhash.h>
#if defined(__x86_64__)
#include <xxh_x86dispatch.h>  // same values, best instruction set at run time
#endif

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <new>
#include <ranges>
#include <span>
#include <string_view>

namespace sinew {

// BulkChecksum of bytes that arrive in pieces, or the same with another seed. Move only. Throws
// std::bad_alloc.
class ContentHash {
 public:
  explicit ContentHash(std::uint64_t seed = 0) {
    if (state_ == nullptr) throw std::bad_alloc();
    XXH3_64bits_reset_withSeed(state_.get(), seed);
  }
  void Update(std::string_view bytes) {
    XXH3_64bits_update(state_.get(), bytes.data(), bytes.size());
  }
  std::uint64_t Digest() const { return XXH3_64bits_digest(state_.get()); }

 private:
  struct Free {
    void operator()(XXH3_state_t* state) const { XXH3_freeState(state); }
  };
  std::unique_ptr<XXH3_state_t, Free> state_{XXH3_createState()};
};

// `pieces` is a range of std::span<const std::byte>; only their concatenation matters. Throws
// std::bad_alloc, with two or more pieces that are not empty.
template <std::ranges::forward_range Pieces>
std::uint64_t BulkChecksum(const Pieces& pieces) {
  const auto filled = [](std::span<const std::byte> piece) { return !piece.empty(); };
  const auto first = std::ranges::find_if(pieces, filled);
  if (first == pieces.end()) return XXH3_64bits(nullptr, 0);
  // The one-shot call is faster than the streaming one.
  if (std::find_if(std::next(first), pieces.end(), filled) == pieces.end()) {
    return XXH3_64bits(first->data(), first->size());
  }
  ContentHash hash;
  for (const std::span<const std::byte> piece : pieces) {
    hash.Update({reinterpret_cast<const char*>(piece.data()), piece.size()});
  }
  return hash.Digest();
}

inline std::uint64_t BulkChecksum(std::initializer_list<std::span<const std::byte>> arrays) {
  return BulkChecksum<std::initializer_list<std::span<const std::byte>>>(arrays);
}

}  // namespace sinew
