#include "client/lib/rpc/address.h"

#include <absl/strings/match.h>
#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_split.h>
#include <arpa/inet.h>

#include <algorithm>
#include <optional>
#include <vector>

namespace sinew::client {
namespace {

constexpr char kDefaultPort[] = ":50051";
constexpr const char* kSchemesWithoutPort[] = {"unix:", "unix-abstract:", "vsock:", "xds:"};
constexpr const char* kSchemesWithHosts[] = {"dns:", "ipv4:", "ipv6:"};

bool IsPort(absl::string_view text) {
  std::uint32_t port = 0;
  const bool digits = !text.empty() && text.find_first_not_of("0123456789") == text.npos;
  return digits && absl::SimpleAtoi(text, &port) && port >= 1 && port <= 65535;
}

bool IsIpv6(absl::string_view text) {
  in6_addr address;
  const std::string without_zone(text.substr(0, text.find('%')));
  return ::inet_pton(AF_INET6, without_zone.c_str(), &address) == 1;
}

// No value: neither host nor host:port.
std::optional<std::string> WithPort(absl::string_view text) {
  if (IsIpv6(text)) return absl::StrCat("[", text, "]", kDefaultPort);
  std::size_t end = text.find(':');
  if (absl::StartsWith(text, "[")) {
    end = text.find(']');
    if (end == text.npos || !IsIpv6(text.substr(1, end - 1))) return std::nullopt;
    ++end;
  } else if (text.substr(0, end).empty() ||
             text.substr(0, end).find_first_of(" /\\@?#%,[]") != text.npos) {
    return std::nullopt;
  }
  if (end >= text.size()) return absl::StrCat(text, kDefaultPort);
  if (text[end] != ':' || !IsPort(text.substr(end + 1))) return std::nullopt;
  return std::string(text);
}

// `text` is a target without its scheme: an optional authority and a list of hosts, whose brackets
// may be escaped.
bool AllHostsHavePorts(absl::string_view text) {
  const std::vector<absl::string_view> hosts =
      absl::StrSplit(text.substr(text.rfind('/') + 1), ',');
  return std::ranges::all_of(hosts, [](absl::string_view host) {
    const std::size_t colon = host.rfind(':');
    if (colon == host.npos || colon == 0 || !IsPort(host.substr(colon + 1))) return false;
    const absl::string_view before = host.substr(0, colon);
    return before.find(':') == before.npos || absl::EndsWith(before, "]") ||
           absl::EndsWithIgnoreCase(before, "%5d");
  });
}

bool IsLocalHost(absl::string_view host) {
  in_addr v4{};
  if (::inet_pton(AF_INET, std::string(host).c_str(), &v4) == 1) {
    return ntohl(v4.s_addr) >> 24 == 127;
  }
  return host == "localhost" || host == "[::1]";
}

}  // namespace

bool IsLocalTarget(const std::string& target) {
  if (absl::StartsWith(target, "unix:") || absl::StartsWith(target, "unix-abstract:")) return true;
  // A target with another scheme may name several hosts, or resolve to any.
  const std::size_t port = target.rfind(':');
  return port != target.npos && IsLocalHost(absl::string_view(target).substr(0, port));
}

absl::StatusOr<std::string> TargetOf(const std::string& option, const std::string& address) {
  const auto starts = [&](const char* scheme) { return absl::StartsWith(address, scheme); };
  if (std::ranges::any_of(kSchemesWithoutPort, starts)) return address;
  if (std::ranges::any_of(kSchemesWithHosts, starts)) {
    if (AllHostsHavePorts(absl::string_view(address).substr(address.find(':') + 1))) return address;
  } else if (const std::optional<std::string> target = WithPort(address)) {
    return *target;
  }
  return absl::InvalidArgumentError(absl::StrCat(
      option, ": got \"", address,
      "\", need host or host:port (port 1 to 65535, default 50051), [IPv6]:port, unix:/path, "
      "or a gRPC target with its port such as dns:///host:50051"));
}

}  // namespace sinew::client
