// field_path.h - the field that an error names at the start of its message.
#pragma once

#include <absl/strings/ascii.h>

#include <algorithm>
#include <string_view>

namespace sinew {

// The path of "meshes[2].weights: got 3, need 4", or empty if the message begins with none:
// letters, digits, `_`, `.` and `[n]`. A view of `message`.
inline std::string_view LeadingPath(std::string_view message) {
  const std::size_t colon = message.find(": ");
  if (colon == std::string_view::npos) return {};
  const std::string_view path = message.substr(0, colon);
  const bool is_path = std::ranges::all_of(path, [](char c) {
    return absl::ascii_isalnum(static_cast<unsigned char>(c)) ||
           std::string_view("_.[]").find(c) != std::string_view::npos;
  });
  return is_path ? path : std::string_view();
}

}  // namespace sinew
