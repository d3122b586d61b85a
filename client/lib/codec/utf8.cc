#include "client/lib/codec/utf8.h"

#include <absl/strings/str_cat.h>

#include <cstddef>
#include <cstdint>
#include <string>

namespace sinew::client {
namespace {

// Bytes of the character that begins at `at`, 0 if none does (RFC 3629: no overlong forms, no
// surrogates, at most U+10FFFF).
std::size_t CharacterBytes(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t k) { return static_cast<std::uint8_t>(text[at + k]); };
  const std::uint8_t first = byte(0);
  if (first < 0x80) return 1;
  const std::size_t bytes = first < 0xc2   ? 0
                            : first < 0xe0 ? 2
                            : first < 0xf0 ? 3
                            : first < 0xf5 ? 4
                                           : 0;
  if (bytes == 0 || at + bytes > text.size()) return 0;
  const std::uint8_t low = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
  const std::uint8_t high = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
  if (byte(1) < low || byte(1) > high) return 0;
  for (std::size_t k = 2; k < bytes; ++k) {
    if ((byte(k) & 0xc0) != 0x80) return 0;
  }
  return bytes;
}

}  // namespace

absl::Status CheckUtf8(std::string_view field, std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t bytes = CharacterBytes(text, at);
    if (bytes == 0) {
      return absl::InvalidArgumentError(
          absl::StrCat(std::string(field), ": byte ", at + 1, " is not UTF-8, need UTF-8 text"));
    }
    at += bytes;
  }
  return absl::OkStatus();
}

}  // namespace sinew::client
