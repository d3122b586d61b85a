#include "core/base/field_path.h"

#include <cctype>
#include <cstddef>

namespace sinew {

std::string_view LeadingPath(std::string_view message) {
  const std::size_t colon = message.find(": ");
  if (colon == std::string_view::npos || colon == 0) return {};
  for (const char c : message.substr(0, colon)) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '_' && c != '.' && c != '[' &&
        c != ']') {
      return {};
    }
  }
  return message.substr(0, colon);
}

}  // namespace sinew
