#include "server/access/certificates.h"

#include <absl/strings/str_cat.h>

#include "client/lib/base/pem.h"
#include "core/base/status.h"

namespace sinew::server {
namespace {

absl::Status InOption(const char* option, const absl::Status& status) {
  return status.ok() ? status : InvalidArgument(option, ": ", status.message());
}

}  // namespace

absl::Status CheckCertificates(const ServerCertificates& certificates) {
  SINEW_RETURN_IF_ERROR(InOption("tls-cert", CheckCertificate(certificates.chain)));
  SINEW_RETURN_IF_ERROR(InOption("tls-key", CheckPrivateKey(certificates.key, certificates.chain)));
  if (certificates.client_ca.empty()) return absl::OkStatus();
  return InOption("tls-client-ca", CheckCertificate(certificates.client_ca));
}

absl::StatusOr<TenantRule> TenantRule::Parse(const std::string& pattern) {
  TenantRule rule;
  if (pattern.empty()) return rule;
  rule.given_ = true;
  try {
    rule.pattern_ = std::regex(pattern);
  } catch (const std::regex_error&) {
  }
  if (rule.pattern_.mark_count() != 0) return rule;
  return InvalidArgument("tls-tenant-pattern: got \"", pattern,
                         "\", need a regular expression with a group in parentheses");
}

absl::StatusOr<Identity> TenantRule::Apply(const std::vector<std::string>& alternative_names,
                                           const std::string& common_name) const {
  const auto refused = [](const auto&... pieces) {
    return absl::UnauthenticatedError(absl::StrCat("certificate: ", pieces...));
  };
  Identity identity;
  const absl::Status named =
      SetPrincipal(alternative_names.empty() ? common_name : alternative_names.front(), identity);
  if (!named.ok()) return refused(named.message());
  if (!given_) return identity;
  std::smatch found;
  if (!std::regex_search(identity.principal, found, pattern_)) {
    return refused("no tenant in \"", identity.principal, "\"");
  }
  const absl::Status tenant = SetTenant(found[1].str(), identity);
  if (!tenant.ok()) return refused(tenant.message());
  return identity;
}

}  // namespace sinew::server
