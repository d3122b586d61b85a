// tls_context.h - TLS of the web port, with certificates that may change.
#pragma once

#include <absl/base/thread_annotations.h>
#include <absl/status/statusor.h>
#include <absl/synchronization/mutex.h>
#include <openssl/ssl.h>

#include <functional>
#include <memory>
#include <utility>

#include "client/lib/base/openssl_owned.h"
#include "server/access/certificates.h"

namespace sinew::server {

// TLS 1.2 and 1.3, without sessions that outlive a connection. With client authorities a client
// needs a certificate of theirs. Thread-safe.
class TlsContext {
 public:
  using Source = std::function<std::shared_ptr<const ServerCertificates>()>;
  using Report = std::function<void(const absl::Status&)>;

  // report: is called once for new certificates that cannot be used.
  // kInvalidArgument: those of now cannot be used.
  static absl::StatusOr<std::shared_ptr<TlsContext>> Create(Source source, Report report);

  // A connection's end, with the certificates that the source has now. If new ones cannot be used,
  // with the last ones that could. Null: no memory.
  SSL* NewConnection();

 private:
  using Context = Owned<SSL_CTX, SSL_CTX_free>;
  TlsContext(Source source, Report report)
      : source_(std::move(source)), report_(std::move(report)) {}
  static absl::StatusOr<Context> Make(const ServerCertificates& certificates);
  absl::Status Update() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const Source source_;
  const Report report_;
  absl::Mutex mutex_;
  std::shared_ptr<const ServerCertificates> seen_ ABSL_GUARDED_BY(mutex_);
  Context context_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace sinew::server
