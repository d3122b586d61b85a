#include "server/base/printable.h"

#include <absl/strings/str_cat.h>

namespace sinew::server {

std::string Printable(std::string_view text) {
  std::string printable;
  for (const char c : text) {
    const auto code = static_cast<unsigned char>(c);
    if (code >= 0x20 && code != 0x7f) {
      printable += c;
    } else {
      absl::StrAppend(&printable, "\\x", absl::Hex(code, absl::kZeroPad2));
    }
  }
  return printable;
}

std::string Shortened(std::string_view text, std::size_t bytes) {
  if (text.size() <= bytes) return std::string(text);
  std::size_t end = bytes;
  const auto continues = [](char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; };
  while (end > 0 && continues(text[end])) --end;
  return std::string(text.substr(0, end)) + "...";
}

}  // namespace sinew::server
