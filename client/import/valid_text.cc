#include "client/import/valid_text.h"

#include <absl/strings/str_cat.h>
#include <utf8.h>

namespace sinew::client {

std::string ValidText(std::string_view text) {
  std::string valid;
  auto at = text.begin();
  while (at != text.end()) {
    const auto bad = utf8::find_invalid(at, text.end());
    valid.append(at, bad);
    at = bad;
    if (at == text.end()) break;
    absl::StrAppend(&valid, "\\x", absl::Hex(static_cast<unsigned char>(*at++), absl::kZeroPad2));
  }
  return valid;
}

}  // namespace sinew::client
