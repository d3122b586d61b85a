#include "server/base/caller.h"

#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_replace.h>
#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <array>
#include <cstdint>

#include "core/base/status.h"

namespace sinew::server {

std::string PeerOf(std::string_view address) {
  if (absl::StartsWith(AbslView(address), "unix")) return "unix";
  if (!absl::StartsWith(AbslView(address), "ipv")) return std::string(address);
  const std::size_t begin = address.find(':') + 1, port = address.rfind(':');
  if (port <= begin) return std::string(address.substr(begin));
  // gRPC 1.51 escapes the brackets around an IPv6 address.
  return absl::StrReplaceAll(AbslView(address.substr(begin, port - begin)),
                             {{"%5B", ""}, {"%5D", ""}, {"[", ""}, {"]", ""}});
}

std::string NetworkOf(const std::string& peer) {
  if (peer == "unix") return "unix:";  // which is no name of a tenant
  in6_addr address;
  const std::string plain = peer.substr(0, peer.find('%'));  // without the zone of a link
  if (::inet_pton(AF_INET6, plain.c_str(), &address) != 1 || IN6_IS_ADDR_LOOPBACK(&address)) {
    return peer;
  }
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (IN6_IS_ADDR_V4MAPPED(&address)) {
    return ::inet_ntop(AF_INET, address.s6_addr + 12, text.data(), text.size());
  }
  std::fill_n(address.s6_addr + 8, 8, std::uint8_t{0});
  ::inet_ntop(AF_INET6, &address, text.data(), text.size());
  return absl::StrCat(text.data(), "/64");
}

bool IsTenantName(std::string_view name) {
  constexpr std::size_t kLongest = 63;
  const auto alphanumeric = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  return !name.empty() && name.size() <= kLongest && alphanumeric(name[0]) &&
         std::ranges::all_of(name, [&](char c) { return alphanumeric(c) || c == '_' || c == '-'; });
}

}  // namespace sinew::server
