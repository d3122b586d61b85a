// traceparent.h - the header that makes a call part of a trace.
//
// https://www.w3.org/TR/trace-context
#pragma once

#include <string_view>

namespace sinew::client {

// True for version-trace-parent-flags of 2, 32, 16 and 2 lower-case hexadecimal digits, unless the
// version is ff or an id consists of zeros. Versions after 00 may append fields.
bool IsTraceparent(std::string_view text);

}  // namespace sinew::client
