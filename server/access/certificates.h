// certificates.h - the certificates of the server, and what a client's certificate says.
#pragma once

#include <absl/status/statusor.h>

#include <memory>
#include <string>
#include <vector>

#include "server/access/identity.h"

namespace re2 {
class RE2;
}

namespace sinew::server {

// Contents of PEM files.
struct ServerCertificates {
  std::string chain, key;
  std::string client_ca;  // empty = clients have no certificates
};

// kInvalidArgument: not PEM, or the key is not that of the certificate; names the option.
absl::Status CheckCertificates(const ServerCertificates& certificates);

// The rule for the tenant of a client certificate: the first group of a regular expression
// (RE2) that is searched in the principal. An empty pattern puts all in the default tenant.
class TenantRule {
 public:
  // kInvalidArgument: not a regular expression with a group.
  static absl::StatusOr<TenantRule> Parse(const std::string& pattern);

  // The principal is the first subject alternative name, or else the common name.
  // kUnauthenticated: no name, or no tenant can be found in it.
  absl::StatusOr<Identity> Apply(const std::vector<std::string>& alternative_names,
                                 const std::string& common_name) const;

 private:
  std::shared_ptr<const re2::RE2> pattern_;  // null: none
};

}  // namespace sinew::server
