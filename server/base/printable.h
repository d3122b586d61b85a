// printable.h - text from clients, made safe for logs, terminals and messages.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace sinew::server {

// Control characters as \xNN.
std::string Printable(std::string_view text);

// At most `bytes` bytes of the text, cut between UTF-8 characters, with "..." if any are missing.
std::string Shortened(std::string_view text, std::size_t bytes);

}  // namespace sinew::server
