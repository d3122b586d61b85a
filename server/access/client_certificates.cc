#include "server/access/client_certificates.h"

#include <absl/strings/str_cat.h>
#include <openssl/x509.h>
#include <openssl/x509_vfy.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <utility>
#include <vector>

#include "client/lib/base/openssl_owned.h"
#include "client/lib/base/pem.h"
#include "core/base/digest.h"

namespace sinew::server {
namespace {

constexpr std::size_t kKnownChains = 1000;
constexpr std::chrono::hours kKnownFor{1};

void FreeCertificates(STACK_OF(X509) * certificates) {
  sk_X509_pop_free(certificates, X509_free);
}

std::vector<pem::Certificate> ReadAll(const std::string& text) {
  std::vector<pem::Certificate> certificates;
  const pem::Bio reader = pem::Reader(text);
  while (X509* const next = PEM_read_bio_X509(reader.get(), nullptr, pem::NoPassword, nullptr)) {
    certificates.emplace_back(next);
  }
  return certificates;
}

absl::Status NotValid(const char* why) {
  return absl::UnauthenticatedError(absl::StrCat("certificate: ", why));
}

std::time_t ExpiryOf(const X509& certificate) {
  std::tm time{};
  ASN1_TIME_to_tm(X509_get0_notAfter(&certificate), &time);
  return ::timegm(&time);
}

}  // namespace

struct ClientCertificates::Store {
  Owned<X509_STORE, X509_STORE_free> trusted{X509_STORE_new()};
};

ClientCertificates::ClientCertificates(const std::string& authorities)
    : store_(std::make_unique<Store>()) {
  for (const pem::Certificate& authority : ReadAll(authorities)) {
    X509_STORE_add_cert(store_->trusted.get(), authority.get());
  }
}

ClientCertificates::~ClientCertificates() = default;

absl::Status ClientCertificates::Verify(const std::string& chain, Clock::WallTime now) const {
  const std::string hash = Sha256Hex(chain);
  {
    const absl::MutexLock lock(&mutex_);
    const auto known = valid_until_.find(hash);
    if (known != valid_until_.end() && now < known->second) return absl::OkStatus();
  }
  const std::vector<pem::Certificate> certificates = ReadAll(chain);
  if (certificates.empty()) return NotValid("missing");
  const Owned<STACK_OF(X509), FreeCertificates> others(sk_X509_new_null());
  for (std::size_t i = 1; i < certificates.size(); ++i) {
    X509_up_ref(certificates[i].get());
    sk_X509_push(others.get(), certificates[i].get());
  }
  const Owned<X509_STORE_CTX, X509_STORE_CTX_free> context(X509_STORE_CTX_new());
  if (X509_STORE_CTX_init(context.get(), store_->trusted.get(), certificates.front().get(),
                          others.get()) != 1) {
    return absl::InternalError("certificate: no memory to verify it");
  }
  X509_STORE_CTX_set_default(context.get(), "ssl_client");
  X509_STORE_CTX_set_time(context.get(), 0, std::chrono::system_clock::to_time_t(now));
  if (X509_verify_cert(context.get()) != 1) {
    return NotValid(X509_verify_cert_error_string(X509_STORE_CTX_get_error(context.get())));
  }
  std::time_t until = std::chrono::system_clock::to_time_t(now + kKnownFor);
  const STACK_OF(X509)* const verified = X509_STORE_CTX_get0_chain(context.get());
  for (int i = 0; i < sk_X509_num(verified); ++i) {
    until = std::min(until, ExpiryOf(*sk_X509_value(verified, i)));
  }
  const absl::MutexLock lock(&mutex_);
  if (valid_until_.size() >= kKnownChains) valid_until_.clear();
  valid_until_[hash] = std::chrono::system_clock::from_time_t(until);
  return absl::OkStatus();
}

}  // namespace sinew::server
