#include "server/access/access.h"

#include <absl/strings/match.h>
#include <absl/strings/str_join.h>
#include <grpc/grpc_security_constants.h>
#include <sys/stat.h>

#include <chrono>
#include <optional>
#include <utility>

#include "core/base/digest.h"
#include "core/base/status.h"
#include "server/base/files.h"
#include "server/base/status.h"

namespace sinew::server {
namespace {

// Only connections from this process have local credentials, see Listener.
constexpr char kLocalCredentials[] = "local";
constexpr char kBearer[] = "bearer ";
constexpr std::size_t kCachedJwts = 1024;
constexpr std::size_t kFileBytes = 16 << 20;

std::string_view View(const grpc::string_ref& text) {
  return {text.data(), text.size()};
}

std::vector<std::string_view> Values(const grpc::ServerContextBase& context, const char* key) {
  std::vector<std::string_view> values;
  const auto [begin, end] = context.client_metadata().equal_range(key);
  for (auto value = begin; value != end; ++value) values.push_back(View(value->second));
  return values;
}

enum class Origin : std::uint8_t { kElsewhere, kThisProcess, kWeb };

Origin OriginOf(const grpc::ServerContextBase& context) {
  const auto peer = context.auth_context();
  if (peer == nullptr) return Origin::kElsewhere;
  const auto types = peer->FindPropertyValues(GRPC_TRANSPORT_SECURITY_TYPE_PROPERTY_NAME);
  if (types.size() != 1 || types.front() != kLocalCredentials) return Origin::kElsewhere;
  for (const std::string_view agent : Values(context, "user-agent")) {
    if (agent.starts_with(kWebAgent)) return Origin::kWeb;
  }
  return Origin::kThisProcess;
}

std::vector<std::string> Properties(const grpc::AuthContext& context, const char* name) {
  std::vector<std::string> values;
  for (const grpc::string_ref& value : context.FindPropertyValues(name)) {
    values.emplace_back(value.data(), value.size());
  }
  return values;
}

// Differs after any change of the file, also one of the same size within a second.
std::string StateOf(const std::string& path) {
  struct stat facts {};
  if (::stat(path.c_str(), &facts) != 0) return "none";
  return absl::StrJoin(
      {static_cast<long>(facts.st_ino), static_cast<long>(facts.st_size),
       static_cast<long>(facts.st_mtim.tv_sec), static_cast<long>(facts.st_mtim.tv_nsec)},
      " ");
}

std::string StateOf(const std::vector<std::string>& paths) {
  return absl::StrJoin(
      paths, ", ", [](std::string* out, const std::string& path) { out->append(StateOf(path)); });
}

absl::StatusOr<std::string> ReadFile(const char* option, const std::string& path) {
  absl::StatusOr<std::string> text = ReadPiece(path, 0, kFileBytes + 1);
  if (!text.ok()) return InvalidArgument(option, ": ", text.status().message());
  if (text->size() > kFileBytes) {
    return InvalidArgument(option, ": ", path, ": need at most ", kFileBytes, " bytes");
  }
  return text;
}

absl::Status InFile(const char* option, const std::string& path, const absl::Status& status) {
  return InvalidArgument(option, ": ", path, ": ", status.message());
}

}  // namespace

Access::Access(const AccessConfig& config, Clock& clock, Log log, TrustedProxies proxies,
               TenantRule tenants)
    : config_(config),
      clock_(clock),
      log_(std::move(log)),
      proxies_(std::move(proxies)),
      tenants_(std::move(tenants)) {}

absl::StatusOr<std::unique_ptr<Access>> Access::Create(const AccessConfig& config, Clock& clock,
                                                       Log log) {
  SINEW_ASSIGN_OR_RETURN(TrustedProxies proxies, TrustedProxies::Parse(config.trusted_proxies));
  SINEW_ASSIGN_OR_RETURN(TenantRule tenants, TenantRule::Parse(config.tls_tenant_pattern));
  std::unique_ptr<Access> access(
      new Access(config, clock, std::move(log), std::move(proxies), std::move(tenants)));
  if (!config.token_file.empty()) {
    SINEW_RETURN_IF_ERROR(access->AddSource({config.token_file}, &Access::ReadTokens));
  }
  if (!config.jwks_file.empty()) {
    SINEW_RETURN_IF_ERROR(access->AddSource({config.jwks_file}, &Access::ReadKeys));
  }
  if (config.UsesTls()) {
    std::vector<std::string> paths{config.tls_cert, config.tls_key};
    if (!config.tls_client_ca.empty()) paths.push_back(config.tls_client_ca);
    SINEW_RETURN_IF_ERROR(access->AddSource(std::move(paths), &Access::ReadCertificates));
  }
  return access;
}

absl::Status Access::AddSource(std::vector<std::string> paths, absl::Status (Access::*read)()) {
  Source source{.paths = std::move(paths), .read = [this, read] { return (this->*read)(); }};
  source.seen = StateOf(source.paths);  // before reading: a later change is noticed
  const absl::MutexLock lock(&sources_mutex_);
  SINEW_RETURN_IF_ERROR(source.read());
  sources_.push_back(std::move(source));
  return absl::OkStatus();
}

absl::Status Access::ReadTokens() {
  SINEW_ASSIGN_OR_RETURN(const std::string text, ReadFile("token-file", config_.token_file));
  absl::StatusOr<Tokens> tokens = Tokens::Parse(text);
  if (!tokens.ok()) return InFile("token-file", config_.token_file, tokens.status());
  if (tokens->empty()) {
    log_->warn(
        "token-file: {}: has no token and admits no call; `sinewd --make-token NAME` makes one",
        config_.token_file);
  }
  const absl::MutexLock lock(&mutex_);
  tokens_ = std::make_shared<const Tokens>(*std::move(tokens));
  return absl::OkStatus();
}

absl::Status Access::ReadKeys() {
  SINEW_ASSIGN_OR_RETURN(const std::string text, ReadFile("jwks-file", config_.jwks_file));
  absl::StatusOr<JwtKeys> keys = JwtKeys::Parse(text);
  if (!keys.ok()) return InFile("jwks-file", config_.jwks_file, keys.status());
  auto jwts = std::make_shared<Jwts>();
  jwts->keys = *std::move(keys);
  const absl::MutexLock lock(&mutex_);
  jwts_ = std::move(jwts);
  return absl::OkStatus();
}

absl::Status Access::ReadCertificates() {
  ServerCertificates read;
  SINEW_ASSIGN_OR_RETURN(read.chain, ReadFile("tls-cert", config_.tls_cert));
  SINEW_ASSIGN_OR_RETURN(read.key, ReadFile("tls-key", config_.tls_key));
  if (!config_.tls_client_ca.empty()) {
    SINEW_ASSIGN_OR_RETURN(read.client_ca, ReadFile("tls-client-ca", config_.tls_client_ca));
    // Without authorities, clients would not need a certificate.
    if (read.client_ca.empty()) return InvalidArgument("tls-client-ca: the file is empty");
  }
  SINEW_RETURN_IF_ERROR(CheckCertificates(read));
  auto clients = std::make_shared<const ClientCertificates>(read.client_ca);
  const absl::MutexLock lock(&mutex_);
  clients_ = std::move(clients);
  certificates_ = std::make_shared<const ServerCertificates>(std::move(read));
  return absl::OkStatus();
}

bool Access::FilesChanged() {
  const absl::MutexLock lock(&sources_mutex_);
  bool changed = false;
  for (Source& source : sources_) {
    std::string state = StateOf(source.paths);
    source.changed |= state != source.seen;
    source.seen = std::move(state);
    changed |= source.changed;
  }
  return changed;
}

void Access::Reload() {
  const absl::MutexLock lock(&sources_mutex_);
  for (Source& source : sources_) {
    if (!std::exchange(source.changed, false)) continue;
    const std::string paths = absl::StrJoin(source.paths, ", ");
    if (const absl::Status status = source.read(); status.ok()) {
      log_->info("read again: {}", paths);
    } else {
      log_->error("cannot use the new contents, the old ones stay: {}",
                  std::string(status.message()));
    }
  }
}

void Access::ReloadAll() {
  {
    const absl::MutexLock lock(&sources_mutex_);
    for (Source& source : sources_) {
      source.seen = StateOf(source.paths);  // before reading, as in AddSource
      source.changed = true;
    }
  }
  Reload();
}

std::shared_ptr<const ServerCertificates> Access::certificates() const {
  const absl::MutexLock lock(&mutex_);
  return certificates_;
}

std::string Access::PeerOf(const grpc::ServerContextBase& context) const {
  const Origin origin = OriginOf(context);
  if (origin == Origin::kThisProcess) return {};
  const bool web = origin == Origin::kWeb;
  const std::string peer = web ? std::string(kWeb) : server::PeerOf(context.peer());
  if (config_.trusted_proxies.empty() && !web) return peer;
  return proxies_.ClientOf(peer, Values(context, "x-forwarded-for"));
}

absl::Status Access::Admit(const grpc::ServerContextBase& context, Scope scope,
                           Caller& caller) const {
  if (!config_.Authenticates() || OriginOf(context) == Origin::kThisProcess) {
    return absl::OkStatus();
  }
  for (const std::string_view value : Values(context, "authorization")) {
    SINEW_RETURN_IF_ERROR(
        CheckLimit("authorization", value.size(), config_.token_bytes, "bytes", "max-token-bytes"));
  }
  const absl::StatusOr<Identity> identity = Authenticate(context);
  if (!identity.ok()) {
    log_->debug("not authenticated: peer={} {}", caller.peer,
                std::string(identity.status().message()));
    return absl::UnauthenticatedError("call: needs a valid token or client certificate");
  }
  caller.tenant = identity->tenant;
  caller.principal = identity->principal;
  caller.admin = identity->scopes.Has(Scope::kAdmin);
  if (identity->scopes.Has(scope)) return absl::OkStatus();
  return absl::PermissionDeniedError(
      absl::StrCat("call: needs the scope ", AbslView(ScopeName(scope))));
}

absl::StatusOr<Identity> Access::Authenticate(const grpc::ServerContextBase& context) const {
  const std::vector<std::string_view> values = Values(context, "authorization");
  if (values.empty()) return FromCertificate(context);
  if (values.size() > 1) return absl::UnauthenticatedError("authorization: sent more than once");
  if (!absl::StartsWithIgnoreCase(AbslView(values.front()), kBearer)) {
    return absl::UnauthenticatedError("authorization: not a bearer token");
  }
  return FromToken(values.front().substr(sizeof kBearer - 1));
}

absl::StatusOr<Identity> Access::FromToken(std::string_view token) const {
  std::shared_ptr<const Tokens> tokens;
  std::shared_ptr<Jwts> jwts;
  {
    const absl::MutexLock lock(&mutex_);
    tokens = tokens_;
    jwts = jwts_;
  }
  if (tokens != nullptr) {
    if (const Identity* const known = tokens->Find(token, clock_.WallNow())) return *known;
  }
  if (jwts != nullptr) return FromJwt(*jwts, token);
  return absl::UnauthenticatedError("token: unknown or expired");
}

absl::StatusOr<Identity> Access::FromJwt(Jwts& jwts, std::string_view token) const {
  const Clock::WallTime now = clock_.WallNow();
  const std::string hash = Sha256Hex(token);
  {
    const absl::MutexLock lock(&jwts.mutex);
    const auto known = jwts.verified.find(hash);
    if (known != jwts.verified.end() && now < known->second.expires) return known->second.identity;
  }
  const JwtRules rules{.audience = config_.jwt_audience,
                       .issuer = config_.jwt_issuer,
                       .tenant_claim = config_.jwt_tenant_claim};
  SINEW_ASSIGN_OR_RETURN(VerifiedJwt verified, jwts.keys.Verify(token, rules, now));
  const absl::MutexLock lock(&jwts.mutex);
  if (jwts.verified.size() >= kCachedJwts) jwts.verified.clear();
  return jwts.verified.insert_or_assign(hash, std::move(verified)).first->second.identity;
}

absl::StatusOr<Identity> Access::FromCertificate(const grpc::ServerContextBase& context) const {
  const auto peer = context.auth_context();
  if (config_.tls_client_ca.empty() || peer == nullptr || !peer->IsPeerAuthenticated()) {
    return absl::UnauthenticatedError("authorization: missing");
  }
  std::shared_ptr<const ClientCertificates> clients;
  {
    const absl::MutexLock lock(&mutex_);
    clients = clients_;
  }
  // On the side of a server, the chain is without the certificate itself.
  std::string chain;
  for (const char* part :
       {GRPC_X509_PEM_CERT_PROPERTY_NAME, GRPC_X509_PEM_CERT_CHAIN_PROPERTY_NAME}) {
    for (const std::string& pem : Properties(*peer, part)) chain += pem;
  }
  // By the system's time, as in the handshake.
  SINEW_RETURN_IF_ERROR(clients->Verify(chain, std::chrono::system_clock::now()));
  const std::vector<std::string> common = Properties(*peer, GRPC_X509_CN_PROPERTY_NAME);
  return tenants_.Apply(Properties(*peer, GRPC_X509_SAN_PROPERTY_NAME),
                        common.empty() ? std::string() : common.front());
}

}  // namespace sinew::server
