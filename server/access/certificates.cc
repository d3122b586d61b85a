#include "server/access/certificates.h"

#include <absl/strings/str_cat.h>
#include <re2/re2.h>

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
  rule.pattern_ = std::make_shared<const RE2>(pattern, RE2::Quiet);
  if (rule.pattern_->ok() && rule.pattern_->NumberOfCapturingGroups() > 0) return rule;
  return InvalidArgument("tls-tenant-pattern: got \"", pattern,
                         "\", need a regular expression with a group in parentheses",
                         rule.pattern_->ok() ? "" : ": ", rule.pattern_->error());
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
  if (pattern_ == nullptr) return identity;
  std::string found;
  if (!RE2::PartialMatch(identity.principal, *pattern_, &found)) {
    return refused("no tenant in \"", identity.principal, "\"");
  }
  const absl::Status tenant = SetTenant(found, identity);
  if (!tenant.ok()) return refused(tenant.message());
  return identity;
}

}  // namespace sinew::server
