// utf8.h - checks text that becomes a protobuf string, which must be UTF-8.
#pragma once

#include <absl/status/status.h>

#include <string>

namespace sinew::client {

// kInvalidArgument: not UTF-8, with the position of the first invalid byte. `field` names the text.
// Without this check gRPC would fail to serialise the request and give no reason.
absl::Status CheckUtf8(const std::string& field, const std::string& text);

}  // namespace sinew::client
