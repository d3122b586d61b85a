// printable.h - text from files and servers made safe for a terminal.
#pragma once

#include <string>
#include <string_view>

namespace sinew::cli {

// Control characters (also escape, delete and those of C1) become '?', bytes that are not UTF-8
// U+FFFD. A newline stays if `lines` is set.
std::string Printable(std::string_view text, bool lines = false);

// Code points of UTF-8 text: columns, as far as the names in character files go.
std::size_t Columns(std::string_view text);

}  // namespace sinew::cli
