// content_hash.h - BulkChecksum of a file while its bytes are written.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

namespace sinew::bake {

// Hashes bytes that arrive in pieces. Move only.
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

}  // namespace sinew::bake
