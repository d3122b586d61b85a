// bytes.h - test files made from strings, viewed as bytes.
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

}  // namespace sinew::testing
