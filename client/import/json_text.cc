#include "client/import/json_text.h"

#include <absl/strings/str_cat.h>

#include <algorithm>

namespace sinew::client {

std::string PlaceInText(std::string_view text, std::size_t byte) {
  const std::string_view before = text.substr(0, byte > 0 ? byte - 1 : 0);
  const std::size_t line_start = before.rfind('\n') + 1;  // npos + 1 is 0
  const auto starts_character = [](char c) { return (static_cast<unsigned char>(c) >> 6) != 2; };
  return absl::StrCat("line ", 1 + std::count(before.begin(), before.end(), '\n'), ", column ",
                      1 + std::count_if(before.begin() + static_cast<std::ptrdiff_t>(line_start),
                                        before.end(), starts_character));
}

void KeyWatch::Key(const std::string& name) {
  if (!twice_.empty()) return;
  levels_.back().key = name;
  if (!levels_.back().keys.insert(name).second) twice_ = Path();
}

void KeyWatch::Value() {
  if (!levels_.empty() && levels_.back().is_array) ++levels_.back().items;
}

void KeyWatch::Open(bool is_array) {
  Value();
  levels_.push_back({.is_array = is_array});
}

void KeyWatch::Close() {
  levels_.pop_back();
}

std::string KeyWatch::Path() const {
  std::string path;
  for (const Level& level : levels_) {
    if (level.is_array) {
      absl::StrAppend(&path, "[", level.items - 1, "]");
    } else {
      absl::StrAppend(&path, path.empty() ? "" : ".", level.key);
    }
  }
  return path;
}

}  // namespace sinew::client
