// proxy.h - the HTTP proxy on the way to a server, as the environment names it.
//
// gRPC's own rules take only the end of a host for a match of no_proxy, in the case it is written
// in, send calls to this machine to the proxy, and fall back to a direct connection if they do not
// understand the variable. These are used instead: gRPC is given the result.
#pragma once

#include <absl/status/statusor.h>

#include <optional>
#include <string>

namespace sinew::client {

struct Proxy {
  std::string address;           // host:port
  std::string credentials = {};  // user:password, or empty
  std::string variable;          // the name of the variable that it is from
};

// The proxy of $grpc_proxy, $https_proxy or $http_proxy, the first that is set, to one host:port.
// None if the host is this machine, or if $no_grpc_proxy, $no_proxy or $NO_PROXY, the first that is
// set, names it as in curl: domains with or without a leading dot, "*", addresses and CIDR blocks,
// each with a port or without.
//   kInvalidArgument: the variable does not have the form http://[user:password@]host[:port].
absl::StatusOr<std::optional<Proxy>> ProxyTo(const std::string& host_port);

}  // namespace sinew::client
