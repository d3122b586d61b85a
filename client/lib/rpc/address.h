// address.h - server addresses as users write them.
#pragma once

#include <absl/status/statusor.h>

#include <string>

namespace sinew::client {

// The gRPC target of `address`: host, host:port, an IPv6 address (in brackets if a port follows),
// unix:/path, or a gRPC target with a scheme. The default port is 50051, where gRPC would use 443.
//   kInvalidArgument: anything else, names `option`. Also a port above 65535, which gRPC would use
//   modulo 65536, and a scheme with hosts (dns, ipv4, ipv6) without a port.
absl::StatusOr<std::string> TargetOf(const std::string& option, const std::string& address);

// Whether a target of TargetOf is on this machine: a unix socket, 127.0.0.0/8, ::1 or localhost.
bool IsLocalTarget(const std::string& target);

}  // namespace sinew::client
