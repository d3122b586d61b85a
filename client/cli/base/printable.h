// printable.h - text from files and servers made safe for a terminal.
#pragma once

#include <string>
#include <string_view>

namespace sinew::cli {

// Control characters (C0, delete, C1) become '?', bytes that are not UTF-8 become "\xe9". Newlines
// are kept if `lines` is set.
std::string Printable(std::string_view text, bool lines = false);

// Code points of UTF-8 text, which approximates its columns on a terminal.
std::size_t Columns(std::string_view text);

}  // namespace sinew::cli
