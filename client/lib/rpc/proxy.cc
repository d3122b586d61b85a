#include "client/lib/rpc/proxy.h"

#include <absl/strings/ascii.h>
#include <absl/strings/match.h>
#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_split.h>
#include <absl/strings/strip.h>

#include <cstdlib>
#include <utility>

#include "client/lib/rpc/address.h"
#include "core/base/status.h"

namespace sinew::client {
namespace {

constexpr char kProxyPort[] = ":80";  // that of the scheme

// The first variable that is set, and its value; empty if none is.
std::pair<std::string, std::string> FirstOf(std::initializer_list<const char*> variables) {
  for (const char* variable : variables) {
    const char* value = std::getenv(variable);
    if (value != nullptr && *value != '\0') return {variable, value};
  }
  return {};
}

// Whether the leading `bits` of both addresses are equal.
bool SameNetwork(const in6_addr& a, const in6_addr& b, int bits) {
  for (int bit = 0; bit < bits; ++bit) {
    if (((a.s6_addr[bit / 8] ^ b.s6_addr[bit / 8]) >> (7 - bit % 8) & 1) != 0) return false;
  }
  return true;
}

bool InBlock(const in6_addr& address, absl::string_view block) {
  const std::pair<absl::string_view, absl::string_view> parts = absl::StrSplit(block, '/');
  const std::optional<in6_addr> network = ParseIp(parts.first);
  int bits = 128;
  if (!network) return false;
  if (!parts.second.empty() && (!absl::SimpleAtoi(parts.second, &bits) || bits < 0)) return false;
  if (!parts.second.empty() && IN6_IS_ADDR_V4MAPPED(&*network)) bits += 96;
  return bits <= 128 && SameNetwork(address, *network, bits);
}

// `entry` is one of no_proxy, without blanks, in lower case.
bool Matches(absl::string_view entry, const HostPort& server) {
  if (entry == "*") return true;
  const HostPort named = SplitHostPort(entry);
  if (!named.port.empty() && named.port != server.port) return false;
  if (const std::optional<in6_addr> address = ParseIp(server.host)) {
    return InBlock(*address, named.host);
  }
  const absl::string_view domain = absl::StripSuffix(absl::StripPrefix(named.host, "."), ".");
  absl::string_view host = absl::StripSuffix(server.host, ".");
  return !domain.empty() && absl::ConsumeSuffix(&host, domain) &&
         (host.empty() || absl::EndsWith(host, "."));
}

bool IsExcepted(HostPort server) {
  absl::AsciiStrToLower(&server.host);
  const std::string list =
      absl::AsciiStrToLower(FirstOf({"no_grpc_proxy", "no_proxy", "NO_PROXY"}).second);
  for (const absl::string_view entry :
       absl::StrSplit(list, absl::ByAnyChar(", \t"), absl::SkipEmpty())) {
    if (Matches(entry, server)) return true;
  }
  return false;
}

}  // namespace

absl::StatusOr<std::optional<Proxy>> ProxyTo(const std::string& host_port) {
  const HostPort server = SplitHostPort(host_port);
  const auto [variable, value] = FirstOf({"grpc_proxy", "https_proxy", "http_proxy"});
  if (value.empty() || IsThisMachine(server.host) || IsExcepted(server)) return std::nullopt;
  const std::size_t scheme = value.find("://");
  const bool is_http = scheme == value.npos || absl::StartsWithIgnoreCase(value, "http://");
  absl::string_view rest = value;
  if (scheme != value.npos) rest.remove_prefix(scheme + 3);
  rest = absl::StripSuffix(rest, "/");
  const std::size_t at = rest.rfind('@');
  Proxy proxy;
  proxy.variable = variable;
  if (at != rest.npos) {
    proxy.credentials = PercentDecoded(rest.substr(0, at));
    rest.remove_prefix(at + 1);
  }
  const HostPort parts = SplitHostPort(rest);
  proxy.address = absl::StrCat(rest, parts.port.empty() ? kProxyPort : "");
  const absl::StatusOr<std::string> target = TargetOf(variable, proxy.address);
  if (!is_http || !target.ok() || *target != proxy.address) {
    return InvalidArgument(variable, ": got \"", is_http ? "" : value.substr(0, scheme + 3), rest,
                           "\", need http://host:port; a server that is reached without it belongs "
                           "into no_proxy");
  }
  return proxy;
}

}  // namespace sinew::client
