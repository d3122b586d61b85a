// digest.h - incremental SHA-256 as lower-case hex (OpenSSL).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

namespace sinew {

class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(Sha256&&) noexcept;
  Sha256& operator=(Sha256&&) noexcept;

  void Update(std::string_view bytes);
  // Hashes the count and then the values, so that bytes cannot move between adjacent arrays.
  template <class T>
  void UpdateArray(std::span<const T> values) {
    static_assert(std::is_trivially_copyable_v<T>);
    const std::uint64_t count = values.size();
    Update({reinterpret_cast<const char*>(&count), sizeof count});
    Update({reinterpret_cast<const char*>(values.data()), values.size_bytes()});
  }
  // 64 hex digits. The object must not be used afterwards.
  std::string Hex();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

std::string Sha256Hex(std::string_view bytes);

}  // namespace sinew
