// random_name.h - names that cannot be guessed.
#pragma once

#include <string>

namespace sinew::server {

// 32 hex digits, of OpenSSL's random numbers.
std::string RandomHex();

}  // namespace sinew::server
