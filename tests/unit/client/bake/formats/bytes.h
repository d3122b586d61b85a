// bytes.h - test files made from strings, viewed as bytes and modified in one place.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace sinew::testing {

inline std::span<const std::byte> Bytes(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

// A literal that may contain zeros.
template <std::size_t N>
std::string Raw(const char (&text)[N]) {
  return std::string(text, N - 1);
}

// `file` with `bytes` written over it at `offset`.
inline std::string With(std::string file, std::size_t offset, std::string_view bytes) {
  return file.replace(offset, bytes.size(), bytes);
}

}  // namespace sinew::testing
