#include "server/process/tls_credentials.h"

#include <grpc/grpc.h>
#include <grpc/grpc_security.h>

#include <string>

namespace sinew::server {
namespace {

// gRPC's own watcher of files drops the certificates in use when new ones are damaged. This hook of
// its C library keeps them; the C++ library does not offer it.
class TlsCredentials final : public grpc::ServerCredentials {
 public:
  explicit TlsCredentials(const Access& access) : access_(access) {
    const auto clients = access.certificates()->client_ca.empty()
                             ? GRPC_SSL_DONT_REQUEST_CLIENT_CERTIFICATE
                             : GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY;
    credentials_ = grpc_ssl_server_credentials_create_with_options(
        grpc_ssl_server_credentials_create_options_using_config_fetcher(clients, &Fetch, this));
  }
  ~TlsCredentials() override { grpc_server_credentials_release(credentials_); }
  TlsCredentials(const TlsCredentials&) = delete;
  TlsCredentials& operator=(const TlsCredentials&) = delete;

  void SetAuthMetadataProcessor(const std::shared_ptr<grpc::AuthMetadataProcessor>&) override {}

 private:
  int AddPortToServer(const std::string& address, grpc_server* server) override {
    return grpc_server_add_http2_port(server, address.c_str(), credentials_);
  }

  // gRPC calls this before each handshake, one at a time.
  static grpc_ssl_certificate_config_reload_status Fetch(
      void* self, grpc_ssl_server_certificate_config** config) {
    auto& credentials = *static_cast<TlsCredentials*>(self);
    auto current = credentials.access_.certificates();
    if (current == credentials.given_) return GRPC_SSL_CERTIFICATE_CONFIG_RELOAD_UNCHANGED;
    const grpc_ssl_pem_key_cert_pair pair{.private_key = current->key.c_str(),
                                          .cert_chain = current->chain.c_str()};
    // gRPC wants authorities also where it does not request certificates.
    const std::string& authorities =
        current->client_ca.empty() ? current->chain : current->client_ca;
    *config = grpc_ssl_server_certificate_config_create(authorities.c_str(), &pair, 1);
    credentials.given_ = std::move(current);
    return GRPC_SSL_CERTIFICATE_CONFIG_RELOAD_NEW;
  }

  const Access& access_;
  grpc_server_credentials* credentials_;
  std::shared_ptr<const ServerCertificates> given_;
};

}  // namespace

std::shared_ptr<grpc::ServerCredentials> MakeTlsCredentials(const Access& access) {
  return std::make_shared<TlsCredentials>(access);
}

}  // namespace sinew::server
