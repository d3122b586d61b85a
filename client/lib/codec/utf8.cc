#include "client/lib/codec/utf8.h"

#include <absl/strings/str_cat.h>
#include <utf8.h>

#include "client/lib/codec/status_codec.h"

namespace sinew::client {

absl::Status CheckUtf8(const std::string& field, const std::string& text) {
  const auto invalid = utf8::find_invalid(text.begin(), text.end());
  if (invalid == text.end()) return absl::OkStatus();
  return InvalidField(
      field, absl::StrCat("byte ", invalid - text.begin() + 1, " is not UTF-8, need UTF-8 text"));
}

}  // namespace sinew::client
