// probe.h - the health check of another server, for containers and scripts.
#pragma once

#include <absl/status/status.h>

#include <string>

namespace sinew::server {

// Calls grpc.health.v1.Health/Check at `address`, without TLS. kUnavailable: the answer is not
// SERVING, or there is none within 5 s.
absl::Status ProbeHealth(const std::string& address);

}  // namespace sinew::server
