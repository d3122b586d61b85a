#include "server/base/caller.h"

#include <absl/strings/match.h>
#include <absl/strings/str_replace.h>

#include <algorithm>

#include "core/base/status.h"

namespace sinew::server {

std::string PeerOf(std::string_view address) {
  if (absl::StartsWith(AbslView(address), "unix")) return "unix";
  if (!absl::StartsWith(AbslView(address), "ipv")) return {};
  const std::size_t begin = address.find(':') + 1, port = address.rfind(':');
  if (port <= begin) return std::string(address.substr(begin));
  // gRPC 1.51 escapes the brackets around an IPv6 address.
  return absl::StrReplaceAll(AbslView(address.substr(begin, port - begin)),
                             {{"%5B", ""}, {"%5D", ""}, {"[", ""}, {"]", ""}});
}

bool IsTenantName(std::string_view name) {
  constexpr std::size_t kLongest = 63;
  const auto alphanumeric = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  return !name.empty() && name.size() <= kLongest && alphanumeric(name[0]) &&
         std::ranges::all_of(name, [&](char c) { return alphanumeric(c) || c == '_' || c == '-'; });
}

}  // namespace sinew::server
