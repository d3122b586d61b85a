// address.h - the addresses that a server can listen on.
#pragma once

#include <absl/status/statusor.h>

#include <string>

namespace sinew::server {

struct HostPort {
  std::string host;  // without brackets
  int port = 0;
};

// "host:port" or "[v6]:port" with port 0 to 65535. kInvalidArgument names `option`.
absl::StatusOr<HostPort> ParseHostPort(const std::string& option, const std::string& address);

// The text that ParseHostPort reads, with brackets around IPv6 addresses.
std::string AddressText(const HostPort& address);

// The address that "host:port" or "port" means; a port alone is one of 127.0.0.1.
std::string WithHost(const std::string& address);

// Accepts what ParseHostPort does, or "unix:/path" (an absolute path short enough for a socket).
absl::Status CheckListenAddress(const std::string& option, const std::string& address);
bool IsUnixAddress(const std::string& address);
// Whether only this machine can reach it: a unix socket, or a port of 127.0.0.0/8, ::1 or
// "localhost".
bool IsLocalAddress(const std::string& address);

}  // namespace sinew::server
