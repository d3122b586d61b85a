// listen_address.h - socket files, and the reason why an address cannot be bound.
#pragma once

#include <absl/status/status.h>

#include <string>
#include <vector>

namespace sinew::server {

// kUnavailable: "cannot bind ADDRESS: why". Binds it once more to find the reason, which gRPC does
// not report.
absl::Status CannotBind(const std::string& option, const std::string& address);

// Before binding: gRPC removes a socket file that is in its way, also one in use. kUnavailable: a
// server listens on one of `addresses`, or this cannot be determined.
absl::Status CheckSocketFiles(const std::vector<std::string>& addresses);

}  // namespace sinew::server
