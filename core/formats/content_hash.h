// content_hash.h - the XXH3-64 of a file, while its bytes are written or when it is read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

namespace sinew {

// Of bytes in pieces. Move only.
class ContentHash {
 public:
  ContentHash();
  ContentHash(ContentHash&&) noexcept;
  ContentHash& operator=(ContentHash&&) noexcept;
  ~ContentHash();

  void Update(std::string_view bytes);
  std::uint64_t Digest() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Of bytes in one piece.
std::uint64_t HashContent(std::span<const std::byte> bytes);

}  // namespace sinew
