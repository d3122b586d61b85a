// sha256.h - content addresses of rigs.
#pragma once

#include <string>
#include <string_view>

namespace sinew::client {

// 64 lower-case hexadecimal digits.
std::string Sha256Hex(std::string_view bytes);

}  // namespace sinew::client
