#include "client/lib/rpc/credentials.h"

#include <absl/strings/ascii.h>
#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string_view>
#include <utility>

#include "client/lib/rpc/address.h"
#include "core/base/status.h"

namespace sinew::client {
namespace {

struct Free {
  void operator()(BIO* bio) const { BIO_free(bio); }
  void operator()(X509* certificate) const { X509_free(certificate); }
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
};
template <class T>
using Owned = std::unique_ptr<T, Free>;

// Not a stream: those throw when they read a folder.
absl::StatusOr<std::string> ReadFile(const char* field, const std::string& path) {
  constexpr std::size_t kMaximum = 1 << 20;
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"),
                                                             &std::fclose);
  std::string text(kMaximum + 1, '\0');
  if (file != nullptr) text.resize(std::fread(text.data(), 1, text.size(), file.get()));
  if (file == nullptr || std::ferror(file.get()) != 0) {
    return InvalidArgument(field, ": cannot read ", path, ": ", std::strerror(errno));
  }
  if (text.size() > kMaximum) {
    return InvalidArgument(field, ": ", path, ": need at most ", kMaximum, " bytes");
  }
  return text;
}

Owned<BIO> Reader(const std::string& text) {
  return Owned<BIO>(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

// A password is not asked for on the terminal.
int NoPassword(char*, int, int, void*) {
  return -1;
}

Owned<X509> FirstCertificate(const std::string& pem) {
  return Owned<X509>(PEM_read_bio_X509(Reader(pem).get(), nullptr, NoPassword, nullptr));
}

absl::Status CheckPair(const TlsOptions& tls, const std::string& chain, const std::string& key) {
  const Owned<X509> certificate = FirstCertificate(chain);
  if (certificate == nullptr) {
    return InvalidArgument("tls.cert_file: ", tls.cert_file, ": not a certificate in PEM");
  }
  const Owned<EVP_PKEY> parsed(
      PEM_read_bio_PrivateKey(Reader(key).get(), nullptr, NoPassword, nullptr));
  if (parsed == nullptr || X509_check_private_key(certificate.get(), parsed.get()) != 1) {
    return InvalidArgument("tls.key_file: ", tls.key_file,
                           ": not the key of the certificate, in PEM without password");
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> TokenFrom(const char* field, absl::string_view text) {
  const absl::string_view token = absl::StripAsciiWhitespace(text);
  if (token.empty() || !std::ranges::all_of(token, [](char c) { return absl::ascii_isgraph(c); })) {
    return InvalidArgument(field, ": got ", token.size(),
                           " bytes, need one token of printable ASCII characters");
  }
  return std::string(token);
}

}  // namespace

absl::StatusOr<std::shared_ptr<grpc::ChannelCredentials>> MakeChannelCredentials(
    const ClientOptions& options) {
  if (!options.tls) return grpc::InsecureChannelCredentials();
  const TlsOptions& tls = *options.tls;
  grpc::SslCredentialsOptions ssl;
  if (!tls.ca_file.empty()) {
    SINEW_ASSIGN_OR_RETURN(ssl.pem_root_certs, ReadFile("tls.ca_file", tls.ca_file));
    if (FirstCertificate(ssl.pem_root_certs) == nullptr) {
      return InvalidArgument("tls.ca_file: ", tls.ca_file, ": not a certificate in PEM");
    }
  }
  if (tls.cert_file.empty() != tls.key_file.empty()) {
    return InvalidArgument("tls.cert_file, key_file: got one of them, need both or none");
  }
  if (!tls.cert_file.empty()) {
    SINEW_ASSIGN_OR_RETURN(ssl.pem_cert_chain, ReadFile("tls.cert_file", tls.cert_file));
    SINEW_ASSIGN_OR_RETURN(ssl.pem_private_key, ReadFile("tls.key_file", tls.key_file));
    SINEW_RETURN_IF_ERROR(CheckPair(tls, ssl.pem_cert_chain, ssl.pem_private_key));
  }
  return grpc::SslCredentials(ssl);
}

absl::StatusOr<std::shared_ptr<BearerToken>> BearerToken::From(const ClientOptions& options) {
  if (!options.token.empty() && !options.token_file.empty()) {
    return InvalidArgument("token, token_file: got both, need at most one");
  }
  std::shared_ptr<BearerToken> bearer(new BearerToken(options.token_file));
  if (!options.token.empty()) {
    SINEW_ASSIGN_OR_RETURN(bearer->token_, TokenFrom("token", options.token));
  }
  if (!options.token_file.empty()) {
    SINEW_ASSIGN_OR_RETURN(const std::string text, ReadFile("token_file", options.token_file));
    SINEW_ASSIGN_OR_RETURN(bearer->token_, TokenFrom("token_file", text));
  }
  return bearer;
}

std::string BearerToken::Header() const {
  const std::lock_guard lock(mutex_);
  return token_.empty() ? std::string() : absl::StrCat("Bearer ", token_);
}

bool BearerToken::ReadAgain() {
  if (file_.empty()) return false;
  const absl::StatusOr<std::string> text = ReadFile("token_file", file_);
  if (!text.ok()) return false;
  absl::StatusOr<std::string> token = TokenFrom("token_file", *text);
  if (!token.ok()) return false;
  const std::lock_guard lock(mutex_);
  token_ = *std::move(token);
  return true;
}

absl::Status CheckTokenIsSafe(const ClientOptions& options, const std::string& target) {
  const bool has_token = !options.token.empty() || !options.token_file.empty();
  if (!has_token || options.tls || options.token_without_tls || IsLocalTarget(target)) {
    return absl::OkStatus();
  }
  return InvalidArgument("token: would be sent to ", target,
                         " without encryption, need TLS or a server on this machine");
}

}  // namespace sinew::client
