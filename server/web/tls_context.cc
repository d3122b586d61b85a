#include "server/web/tls_context.h"

#include <openssl/err.h>

#include "client/lib/base/pem.h"
#include "core/base/status.h"

namespace sinew::server {
namespace {

using Certificates = std::vector<pem::Certificate>;

// kInvalidArgument: a certificate behind the first cannot be read.
absl::StatusOr<Certificates> ReadCertificates(const char* option, const std::string& text) {
  Certificates read;
  const pem::Bio reader = pem::Reader(text);
  while (auto* next = PEM_read_bio_X509(reader.get(), nullptr, pem::NoPassword, nullptr)) {
    read.emplace_back(next);
  }
  const bool ended = ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE;
  ERR_clear_error();
  if (ended && !read.empty()) return read;
  return InvalidArgument(option, ": certificate ", read.size() + 1, ": not PEM");
}

absl::Status Refused(const char* option) {
  const char* reason = ERR_reason_error_string(ERR_peek_last_error());
  ERR_clear_error();
  return InvalidArgument(option, ": ", reason == nullptr ? "OpenSSL refuses it" : reason);
}

}  // namespace

absl::StatusOr<TlsContext::Context> TlsContext::Make(const ServerCertificates& certificates) {
  Context context(SSL_CTX_new(TLS_server_method()));
  if (context == nullptr) return absl::ResourceExhaustedError("no memory for TLS");
  SSL_CTX* const c = context.get();
  SSL_CTX_set_min_proto_version(c, TLS1_2_VERSION);
  SSL_CTX_set_options(c, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_TICKET | SSL_OP_NO_COMPRESSION);
  SSL_CTX_set_num_tickets(c, 0);
  SSL_CTX_set_session_cache_mode(c, SSL_SESS_CACHE_OFF);
  // Reads return after each record, so that no flood of empty ones outlasts the connection's time.
  SSL_CTX_clear_mode(c, SSL_MODE_AUTO_RETRY);
  SSL_CTX_set_mode(c, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);

  SINEW_ASSIGN_OR_RETURN(const Certificates chain,
                         ReadCertificates("tls-cert", certificates.chain));
  const pem::Key key(PEM_read_bio_PrivateKey(pem::Reader(certificates.key).get(), nullptr,
                                             pem::NoPassword, nullptr));
  if (SSL_CTX_use_certificate(c, chain.front().get()) != 1) return Refused("tls-cert");
  for (std::size_t k = 1; k < chain.size(); ++k) {
    if (SSL_CTX_add1_chain_cert(c, chain[k].get()) != 1) return Refused("tls-cert");
  }
  if (key == nullptr || SSL_CTX_use_PrivateKey(c, key.get()) != 1) return Refused("tls-key");
  if (certificates.client_ca.empty()) return context;
  SINEW_ASSIGN_OR_RETURN(const Certificates authorities,
                         ReadCertificates("tls-client-ca", certificates.client_ca));
  for (const pem::Certificate& authority : authorities) {
    if (X509_STORE_add_cert(SSL_CTX_get_cert_store(c), authority.get()) != 1 ||
        SSL_CTX_add_client_CA(c, authority.get()) != 1) {
      return Refused("tls-client-ca");
    }
  }
  SSL_CTX_set_verify(c, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
  return context;
}

absl::Status TlsContext::Update() {
  auto current = source_();
  if (current == seen_) return absl::OkStatus();
  seen_ = std::move(current);
  SINEW_ASSIGN_OR_RETURN(context_, Make(*seen_));
  return absl::OkStatus();
}

absl::StatusOr<std::shared_ptr<TlsContext>> TlsContext::Create(Source source, Report report) {
  std::shared_ptr<TlsContext> made(new TlsContext(std::move(source), std::move(report)));
  const absl::MutexLock lock(&made->mutex_);
  SINEW_RETURN_IF_ERROR(made->Update());
  return made;
}

SSL* TlsContext::NewConnection() {
  const absl::MutexLock lock(&mutex_);
  if (const absl::Status status = Update(); !status.ok()) report_(status);
  return SSL_new(context_.get());
}

}  // namespace sinew::server
