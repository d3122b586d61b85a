// address.h - what a client takes for the address of a server.
#pragma once

#include <absl/status/statusor.h>

#include <string>

namespace sinew::client {

// The gRPC target of `address`: of host, host:port, an IPv6 address (in brackets where a port
// follows), unix:/path, or a target of gRPC with a scheme. A host without a port has that of
// `sinewd`, 50051, where gRPC would take 443; ports beyond 65535, which gRPC takes modulo 65536,
// and schemes with hosts (dns, ipv4, ipv6) without a port are refused. kInvalidArgument names
// `option` and says what may be given.
absl::StatusOr<std::string> TargetOf(const std::string& option, const std::string& address);

}  // namespace sinew::client
