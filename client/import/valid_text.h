// valid_text.h - names of files, whose bytes may be in any encoding, as UTF-8.
#pragma once

#include <string>
#include <string_view>

namespace sinew::client {

// `text` with each byte that is not UTF-8 as "\xe9".
std::string ValidText(std::string_view text);

}  // namespace sinew::client
