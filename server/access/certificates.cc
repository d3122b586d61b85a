#include "server/access/certificates.h"

#include <openssl/pem.h>
#include <openssl/x509.h>

#include "core/base/status.h"
#include "server/access/openssl_owned.h"

namespace sinew::server {
namespace {

using Bio = Owned<BIO, BIO_free>;
using Certificate = Owned<X509, X509_free>;
using Key = Owned<EVP_PKEY, EVP_PKEY_free>;

Bio Reader(const std::string& text) {
  return Bio(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

// The password of an encrypted key is not asked for on the terminal.
int NoPassword(char*, int, int, void*) {
  return -1;
}

Certificate FirstCertificate(const std::string& pem) {
  return Certificate(PEM_read_bio_X509(Reader(pem).get(), nullptr, NoPassword, nullptr));
}

}  // namespace

absl::Status CheckCertificates(const ServerCertificates& certificates) {
  const Certificate certificate = FirstCertificate(certificates.chain);
  if (certificate == nullptr) return InvalidArgument("tls-cert: not a certificate in PEM");
  const Key key(
      PEM_read_bio_PrivateKey(Reader(certificates.key).get(), nullptr, NoPassword, nullptr));
  if (key == nullptr) return InvalidArgument("tls-key: not a private key in PEM without password");
  if (X509_check_private_key(certificate.get(), key.get()) != 1) {
    return InvalidArgument("tls-key: not the key of the first certificate of tls-cert");
  }
  if (!certificates.client_ca.empty() && FirstCertificate(certificates.client_ca) == nullptr) {
    return InvalidArgument("tls-client-ca: not a certificate in PEM");
  }
  return absl::OkStatus();
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
