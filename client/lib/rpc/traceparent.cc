#include "client/lib/rpc/traceparent.h"

#include <algorithm>

namespace sinew::client {
namespace {

bool IsHex(std::string_view text) {
  return text.find_first_not_of("0123456789abcdef") == text.npos;
}

bool IsVisible(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return c > ' ' && c <= '~'; });
}

bool IsZero(std::string_view text) {
  return text.find_first_not_of('0') == text.npos;
}

}  // namespace

bool IsTraceparent(std::string_view text) {
  constexpr std::size_t kSize = 55;  // of version 00; later ones may append fields
  if (text.size() < kSize || text[2] != '-' || text[35] != '-' || text[52] != '-') return false;
  const std::string_view version = text.substr(0, 2), trace = text.substr(3, 32),
                         parent = text.substr(36, 16), flags = text.substr(53, 2);
  if (text.size() > kSize && (version == "00" || text[kSize] != '-' || !IsVisible(text))) {
    return false;
  }
  return IsHex(version) && IsHex(trace) && IsHex(parent) && IsHex(flags) && version != "ff" &&
         !IsZero(trace) && !IsZero(parent);
}

}  // namespace sinew::client
