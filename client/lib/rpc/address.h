// address.h - server addresses as users write them.
#pragma once

#include <absl/status/statusor.h>
#include <absl/strings/string_view.h>
#include <netinet/in.h>

#include <optional>
#include <string>
#include <vector>

namespace sinew::client {

// The gRPC target of `address`: host, host:port, an IPv6 address (in brackets if a port follows),
// unix:/path, or a gRPC target with a scheme. The default port is 50051, where gRPC would use 443.
//   kInvalidArgument: anything else, names `option`. Also a port above 65535, which gRPC would use
//   modulo 65536, and a scheme with hosts (dns, ipv4, ipv6) without a port.
absl::StatusOr<std::string> TargetOf(const std::string& option, const std::string& address);

struct HostPort {
  std::string host;       // without brackets
  std::string port = {};  // empty if there is none
};

// Splits "host", "host:port", an IPv6 address, or "[IPv6]:port".
HostPort SplitHostPort(absl::string_view text);

// The hosts of a target of TargetOf, each as host:port or [IPv6]:port. None: it names no hosts.
std::vector<std::string> HostsOf(const std::string& target);

// An IPv4 address is mapped to IPv6. None: `host` is a name.
std::optional<in6_addr> ParseIp(absl::string_view host);

// Replaces "%41" by "A".
std::string PercentDecoded(absl::string_view text);

// Whether a target of TargetOf is on this machine whatever a name server answers: a unix socket,
// 127.0.0.0/8, ::1 or localhost, without a scheme.
bool IsLocalTarget(const std::string& target);

// Whether a host is this machine: loopback, its name, or an address of one of its interfaces.
bool IsThisMachine(absl::string_view host);

}  // namespace sinew::client
