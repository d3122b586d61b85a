#include "server/base/address.h"

#include <absl/strings/ascii.h>
#include <absl/strings/match.h>
#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>
#include <arpa/inet.h>
#include <sys/un.h>

namespace sinew::server {
namespace {

constexpr char kUnix[] = "unix:";

// Whether gRPC clients read unix:`path` as this path: its addresses are URIs, and a comma begins
// another one.
bool IsNamedByUri(const std::string& path) {
  for (std::size_t at = path.find('%'); at != path.npos; at = path.find('%', at + 1)) {
    if (at + 2 < path.size() && absl::ascii_isxdigit(path[at + 1]) &&
        absl::ascii_isxdigit(path[at + 2])) {
      return false;
    }
  }
  return path.find_first_of(",?#") == path.npos;
}

absl::Status Wrong(const std::string& option, const std::string& address, const std::string& need) {
  return absl::InvalidArgumentError(absl::StrCat(option, ": got \"", address, "\", need ", need));
}

}  // namespace

absl::StatusOr<HostPort> ParseHostPort(const std::string& option, const std::string& address) {
  const std::size_t colon = address.rfind(':');
  HostPort parsed;
  int port = -1;
  if (colon == std::string::npos || colon == 0 ||
      !absl::SimpleAtoi(address.substr(colon + 1), &port) || port < 0 || port > 65535) {
    return Wrong(option, address, "host:port with port 0 to 65535");
  }
  parsed.host = address.substr(0, colon);
  parsed.port = port;
  const bool bracketed = parsed.host.front() == '[' && parsed.host.back() == ']';
  if (bracketed) parsed.host = parsed.host.substr(1, parsed.host.size() - 2);
  if (parsed.host.empty() || (!bracketed && absl::StrContains(parsed.host, ":"))) {
    return Wrong(option, address, "host:port, with IPv6 addresses in [brackets]");
  }
  return parsed;
}

std::string AddressText(const HostPort& address) {
  const bool v6 = absl::StrContains(address.host, ":");
  return absl::StrCat(v6 ? "[" : "", address.host, v6 ? "]" : "", ":", address.port);
}

std::string WithHost(const std::string& address) {
  return absl::StrContains(address, ":") ? address : "127.0.0.1:" + address;
}

bool IsUnixAddress(const std::string& address) {
  return absl::StartsWith(address, kUnix);
}

bool IsLocalAddress(const std::string& address) {
  if (IsUnixAddress(address)) return true;
  const absl::StatusOr<HostPort> parsed = ParseHostPort("", address);
  if (!parsed.ok()) return false;
  in_addr v4{};
  in6_addr v6{};
  if (::inet_pton(AF_INET, parsed->host.c_str(), &v4) == 1) return ntohl(v4.s_addr) >> 24 == 127;
  if (::inet_pton(AF_INET6, parsed->host.c_str(), &v6) == 1) return IN6_IS_ADDR_LOOPBACK(&v6);
  return parsed->host == "localhost";
}

absl::Status CheckListenAddress(const std::string& option, const std::string& address) {
  if (!IsUnixAddress(address)) return ParseHostPort(option, address).status();
  const std::string path = address.substr(sizeof(kUnix) - 1);
  if (path.empty() || path.front() != '/') return Wrong(option, address, "unix:/absolute/path");
  if (path.size() >= sizeof(sockaddr_un::sun_path)) {
    return Wrong(option, address,
                 absl::StrCat("a path of at most ", sizeof(sockaddr_un::sun_path) - 1, " bytes"));
  }
  if (IsNamedByUri(path)) return absl::OkStatus();
  return Wrong(option, address,
               "a path without , ? # and % before two hex digits: gRPC clients would look for "
               "another one");
}

}  // namespace sinew::server
