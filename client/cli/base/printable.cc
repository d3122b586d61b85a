#include "client/cli/base/printable.h"

#include <utf8.h>

#include <algorithm>

#include "client/import/valid_text.h"

namespace sinew::cli {

std::string Printable(std::string_view text, bool lines) {
  const std::string valid = client::ValidText(text);
  std::string out;
  for (auto at = valid.begin(); at != valid.end();) {
    const auto begin = at;
    const auto point = utf8::unchecked::next(at);
    const bool control = point < 0x20 || (point >= 0x7f && point < 0xa0);
    if (control && !(lines && point == '\n')) {
      out += '?';
    } else {
      out.append(begin, at);
    }
  }
  return out;
}

std::size_t Columns(std::string_view text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char c) { return !utf8::internal::is_trail(c); }));
}

}  // namespace sinew::cli
