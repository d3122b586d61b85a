#include "client/lib/rpc/address.h"

#include <absl/strings/match.h>
#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_split.h>
#include <absl/strings/strip.h>
#include <arpa/inet.h>
#include <ifaddrs.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <memory>

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

bool IsLoopback(absl::string_view host) {
  const std::optional<in6_addr> ip = ParseIp(host);
  if (!ip) return absl::EqualsIgnoreCase(absl::StripSuffix(host, "."), "localhost");
  return IN6_IS_ADDR_LOOPBACK(&*ip) || (IN6_IS_ADDR_V4MAPPED(&*ip) && ip->s6_addr[12] == 127);
}

bool IsOfAnInterface(const in6_addr& ip) {
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0) return false;
  const std::unique_ptr<ifaddrs, void (*)(ifaddrs*)> owner(list, &::freeifaddrs);
  for (const ifaddrs* each = list; each != nullptr; each = each->ifa_next) {
    char text[INET6_ADDRSTRLEN] = "";
    const sockaddr* address = each->ifa_addr;
    if (address != nullptr && address->sa_family == AF_INET) {
      ::inet_ntop(AF_INET, &reinterpret_cast<const sockaddr_in*>(address)->sin_addr, text,
                  sizeof(text));
    } else if (address != nullptr && address->sa_family == AF_INET6) {
      ::inet_ntop(AF_INET6, &reinterpret_cast<const sockaddr_in6*>(address)->sin6_addr, text,
                  sizeof(text));
    }
    const std::optional<in6_addr> own = ParseIp(text);
    if (own && std::memcmp(&*own, &ip, sizeof(ip)) == 0) return true;
  }
  return false;
}

}  // namespace

HostPort SplitHostPort(absl::string_view text) {
  const std::size_t end = absl::StartsWith(text, "[") ? text.find(']') : text.npos;
  if (end != text.npos) {
    absl::string_view port = text.substr(end + 1);
    absl::ConsumePrefix(&port, ":");
    return {.host = std::string(text.substr(1, end - 1)), .port = std::string(port)};
  }
  const std::size_t colon = text.find(':');
  if (colon == text.npos || colon != text.rfind(':')) return {.host = std::string(text)};
  return {.host = std::string(text.substr(0, colon)), .port = std::string(text.substr(colon + 1))};
}

std::vector<std::string> HostsOf(const std::string& target) {
  const auto starts = [&](const char* scheme) { return absl::StartsWith(target, scheme); };
  if (std::ranges::any_of(kSchemesWithoutPort, starts)) return {};
  if (std::ranges::none_of(kSchemesWithHosts, starts)) return {target};
  absl::string_view hosts = absl::string_view(target).substr(target.find(':') + 1);
  return absl::StrSplit(PercentDecoded(hosts.substr(hosts.rfind('/') + 1)), ',');
}

std::optional<in6_addr> ParseIp(absl::string_view host) {
  const std::string text(host.substr(0, host.find('%')));  // without a zone
  in6_addr ip;
  const std::string mapped = absl::StrCat("::ffff:", text);
  if (::inet_pton(AF_INET6, text.c_str(), &ip) == 1) return ip;
  in_addr v4;
  if (::inet_pton(AF_INET, text.c_str(), &v4) == 1 &&
      ::inet_pton(AF_INET6, mapped.c_str(), &ip) == 1) {
    return ip;
  }
  return std::nullopt;
}

std::string PercentDecoded(absl::string_view text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const absl::string_view digits = text.substr(i + 1, 2);
    int value = 0;
    if (text[i] == '%' && digits.size() == 2 && absl::SimpleHexAtoi(digits, &value)) {
      result += static_cast<char>(value);
      i += 2;
    } else {
      result += text[i];
    }
  }
  return result;
}

bool IsLocalTarget(const std::string& target) {
  if (absl::StartsWith(target, "unix:") || absl::StartsWith(target, "unix-abstract:")) return true;
  // A target with another scheme may name several hosts, or resolve to any.
  return IsLoopback(SplitHostPort(target).host);
}

bool IsThisMachine(absl::string_view host) {
  if (IsLoopback(host) || host == "0.0.0.0" || host == "::") return true;
  if (const std::optional<in6_addr> ip = ParseIp(host)) return IsOfAnInterface(*ip);
  char name[256] = "";
  return ::gethostname(name, sizeof(name) - 1) == 0 &&
         absl::EqualsIgnoreCase(absl::StripSuffix(host, "."), name);
}

absl::StatusOr<std::string> TargetOf(const std::string& option, const std::string& address) {
  const auto starts = [&](const char* scheme) { return absl::StartsWith(address, scheme); };
  if (std::ranges::any_of(kSchemesWithoutPort, starts)) {
    if (!absl::EndsWith(address, ":")) return address;  // with a path or a name
  } else if (std::ranges::any_of(kSchemesWithHosts, starts)) {
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
