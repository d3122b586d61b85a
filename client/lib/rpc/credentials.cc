#include "client/lib/rpc/credentials.h"

#include <absl/strings/ascii.h>
#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>
#include <grpcpp/security/tls_certificate_provider.h>
#include <grpcpp/security/tls_certificate_verifier.h>
#include <grpcpp/security/tls_credentials_options.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string_view>
#include <utility>

#include "client/lib/base/pem.h"
#include "client/lib/rpc/address.h"
#include "core/base/status.h"

namespace sinew::client {
namespace {

// How often gRPC looks whether certificates have changed.
constexpr unsigned kRefreshSeconds = 1;

constexpr char kBearer[] = "Bearer ";
// The longest value of `authorization`: the default of the server's max-token-bytes.
constexpr std::size_t kHeaderBytes = 16 << 10;

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

absl::Status InFile(const char* field, const std::string& path, const absl::Status& status) {
  return status.ok() ? status : InvalidArgument(field, ": ", path, ": ", status.message());
}

absl::Status CheckFiles(const TlsOptions& tls) {
  if (!tls.ca_file.empty()) {
    SINEW_ASSIGN_OR_RETURN(const std::string ca, ReadFile("tls.ca_file", tls.ca_file));
    SINEW_RETURN_IF_ERROR(InFile("tls.ca_file", tls.ca_file, CheckCertificate(ca)));
  }
  if (tls.cert_file.empty() != tls.key_file.empty()) {
    return InvalidArgument("tls.cert_file, key_file: got one of them, need both or none");
  }
  if (tls.cert_file.empty()) return absl::OkStatus();
  SINEW_ASSIGN_OR_RETURN(const std::string chain, ReadFile("tls.cert_file", tls.cert_file));
  SINEW_ASSIGN_OR_RETURN(const std::string key, ReadFile("tls.key_file", tls.key_file));
  SINEW_RETURN_IF_ERROR(InFile("tls.cert_file", tls.cert_file, CheckCertificate(chain)));
  return InFile("tls.key_file", tls.key_file, CheckPrivateKey(key, chain));
}

absl::StatusOr<std::string> TokenFrom(const char* field, absl::string_view text) {
  const absl::string_view token = absl::StripAsciiWhitespace(text);
  if (token.empty() || !std::ranges::all_of(token, [](char c) { return absl::ascii_isgraph(c); })) {
    return InvalidArgument(field, ": got ", token.size(),
                           " bytes, need one token of printable ASCII characters");
  }
  constexpr std::size_t kMost = kHeaderBytes - (sizeof kBearer - 1);
  if (token.size() > kMost) {
    return InvalidArgument(field, ": got a token of ", token.size(), " bytes, need at most ", kMost,
                           " (max-token-bytes)");
  }
  return std::string(token);
}

}  // namespace

absl::StatusOr<std::shared_ptr<grpc::ChannelCredentials>> MakeChannelCredentials(
    const ClientOptions& options) {
  if (!options.tls) return grpc::InsecureChannelCredentials();
  const TlsOptions& tls = *options.tls;
  SINEW_RETURN_IF_ERROR(CheckFiles(tls));
  namespace tls_grpc = grpc::experimental;
  tls_grpc::TlsChannelCredentialsOptions watched;
  watched.set_certificate_verifier(std::make_shared<tls_grpc::HostNameCertificateVerifier>());
  if (!tls.ca_file.empty() || !tls.cert_file.empty()) {
    watched.set_certificate_provider(std::make_shared<tls_grpc::FileWatcherCertificateProvider>(
        tls.key_file, tls.cert_file, tls.ca_file, kRefreshSeconds));
  }
  if (!tls.ca_file.empty()) watched.watch_root_certs();
  if (!tls.cert_file.empty()) watched.watch_identity_key_cert_pairs();
  return tls_grpc::TlsCredentials(watched);
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
  return token_.empty() ? std::string() : absl::StrCat(kBearer, token_);
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
