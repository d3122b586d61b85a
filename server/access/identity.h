// identity.h - what a token or a certificate says about its holder.
#pragma once

#include <absl/status/status.h>

#include <string>
#include <string_view>

#include "server/access/scope.h"

namespace sinew::server {

struct Identity {
  std::string principal;  // 1 to 256 printable ASCII characters
  std::string tenant;     // empty = the default tenant, which "default" is another name of
  Scopes scopes = Scopes::AllButAdmin();
};

// kInvalidArgument: the name cannot be used; says what is allowed.
absl::Status SetPrincipal(std::string_view name, Identity& identity);
// A tenant's name is the name of a folder under data-dir: [a-z0-9][a-z0-9_-]{0,62}.
absl::Status SetTenant(std::string_view name, Identity& identity);

}  // namespace sinew::server
