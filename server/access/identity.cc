#include "server/access/identity.h"

#include <absl/strings/ascii.h>

#include <algorithm>

#include "core/base/status.h"
#include "server/base/caller.h"

namespace sinew::server {
namespace {

constexpr std::size_t kPrincipalBytes = 256;

}  // namespace

absl::Status SetPrincipal(std::string_view name, Identity& identity) {
  if (name.empty() || name.size() > kPrincipalBytes ||
      !std::ranges::all_of(name, [](char c) { return absl::ascii_isprint(c); })) {
    return InvalidArgument("name: got ", name.size(), " bytes, need 1 to ", kPrincipalBytes,
                           " printable ASCII characters");
  }
  identity.principal = name;
  return absl::OkStatus();
}

absl::Status SetTenant(std::string_view name, Identity& identity) {
  if (!IsTenantName(name)) {
    constexpr std::size_t kShown = 80;
    return InvalidArgument("tenant: got \"", name.substr(0, kShown),
                           "\", need a lower-case letter or digit and up to 62 more, or _ or -");
  }
  identity.tenant = name == "default" ? "" : name;
  return absl::OkStatus();
}

}  // namespace sinew::server
