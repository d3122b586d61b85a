// utf8.h - texts that the wire can carry: protobuf's strings are UTF-8.
#pragma once

#include <absl/status/status.h>

#include <string_view>

namespace sinew::client {

// kInvalidArgument: not UTF-8, with the place of the first wrong byte; `field` names the text.
absl::Status CheckUtf8(std::string_view field, std::string_view text);

}  // namespace sinew::client
