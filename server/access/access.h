// access.h - who may call: authenticates each call by its token or certificate and checks the scope
// of its method. Reads the files with tokens, keys and certificates again when they change.
#pragma once

#include <absl/base/thread_annotations.h>
#include <absl/status/statusor.h>
#include <absl/synchronization/mutex.h>
#include <grpcpp/server_context.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "server/access/certificates.h"
#include "server/access/client_certificates.h"
#include "server/access/jwt.h"
#include "server/access/proxies.h"
#include "server/access/scope.h"
#include "server/access/tokens.h"
#include "server/base/caller.h"
#include "server/base/clock.h"
#include "server/base/config.h"
#include "server/base/log.h"

namespace sinew::server {

// The user agent of the channel by which the web port forwards calls. They come from this process
// on behalf of others: they need a token, and their peer is the one that the port reports.
inline constexpr char kWebAgent[] = "sinew-web";

// Thread-safe.
class Access {
 public:
  // Reads all files. kInvalidArgument: one cannot be used; names option and file.
  static absl::StatusOr<std::unique_ptr<Access>> Create(const AccessConfig& config, Clock& clock,
                                                        Log log);

  // The address of the client, behind a trusted proxy the one that it reports; as Caller::peer.
  std::string PeerOf(const grpc::ServerContextBase& context) const;

  // Sets tenant and principal of `caller`. Without authentication, and from this process, any call
  // is admitted. A token comes before a certificate.
  //   kUnauthenticated: the token is missing, malformed, unknown or expired, or there is no usable
  //   certificate; the message does not say which. kPermissionDenied: names the scope it lacks.
  absl::Status Admit(const grpc::ServerContextBase& context, Scope scope, Caller& caller) const;

  // Null: without TLS. Never changes to or from null.
  std::shared_ptr<const ServerCertificates> certificates() const;

  // Whether a file is another one than at the last call. Does not read contents.
  bool FilesChanged();
  // Reads the files that FilesChanged has found. One that cannot be used is reported in the log,
  // and what was read before stays.
  void Reload();
  // Reads all files again, whether they look changed or not.
  void ReloadAll();

 private:
  // Tokens with known results, since verifying a signature takes longer than many calls.
  struct Jwts {
    JwtKeys keys;
    absl::Mutex mutex;
    std::map<std::string, VerifiedJwt> verified ABSL_GUARDED_BY(mutex);  // by SHA-256
  };
  // Files that are read together.
  struct Source {
    std::vector<std::string> paths;
    std::function<absl::Status()> read;
    std::string seen = {};  // state of the files
    bool changed = false;
  };

  Access(const AccessConfig& config, Clock& clock, Log log, TrustedProxies proxies,
         TenantRule tenants);
  absl::Status AddSource(std::vector<std::string> paths, absl::Status (Access::*read)());
  absl::Status ReadTokens();
  absl::Status ReadKeys();
  absl::Status ReadCertificates();

  absl::StatusOr<Identity> Authenticate(const grpc::ServerContextBase& context) const;
  absl::StatusOr<Identity> FromToken(std::string_view token) const;
  absl::StatusOr<Identity> FromJwt(Jwts& jwts, std::string_view token) const;
  absl::StatusOr<Identity> FromCertificate(const grpc::ServerContextBase& context) const;

  const AccessConfig config_;
  Clock& clock_;
  const Log log_;
  const TrustedProxies proxies_;
  const TenantRule tenants_;
  mutable absl::Mutex mutex_;
  std::shared_ptr<const Tokens> tokens_ ABSL_GUARDED_BY(mutex_);
  std::shared_ptr<Jwts> jwts_ ABSL_GUARDED_BY(mutex_);
  std::shared_ptr<const ServerCertificates> certificates_ ABSL_GUARDED_BY(mutex_);
  std::shared_ptr<const ClientCertificates> clients_ ABSL_GUARDED_BY(mutex_);  // of its authorities
  absl::Mutex sources_mutex_ ABSL_ACQUIRED_BEFORE(mutex_);
  std::vector<Source> sources_ ABSL_GUARDED_BY(sources_mutex_);
};

}  // namespace sinew::server
