// bytes.h - test files made from strings, seen as bytes, damaged in one place.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace sinew::testing {

inline std::span<const std::byte> Bytes(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

// A literal that holds zeros.
template <std::size_t N>
std::string Raw(const char (&text)[N]) {
  return std::string(text, N - 1);
}

// `file` with `bytes` in place of its own at `offset`.
inline std::string With(std::string file, std::size_t offset, std::string_view bytes) {
  return file.replace(offset, bytes.size(), bytes);
}

}  // namespace sinew::testing
