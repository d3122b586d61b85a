// client_certificates.h - whether the certificate that a connection began with is still valid.
//
// The transport verifies a certificate once, when the connection begins. Calls are checked here, so
// that an expired certificate, or one of an authority that is trusted no more, is of no use on a
// connection that has been open since.
#pragma once

#include <absl/base/thread_annotations.h>
#include <absl/status/status.h>
#include <absl/synchronization/mutex.h>

#include <map>
#include <memory>
#include <string>

#include "server/base/clock.h"

namespace sinew::server {

// Thread-safe.
class ClientCertificates {
 public:
  // authorities: certificates in PEM, checked before.
  explicit ClientCertificates(const std::string& authorities);
  ~ClientCertificates();
  ClientCertificates(const ClientCertificates&) = delete;
  ClientCertificates& operator=(const ClientCertificates&) = delete;

  // chain: in PEM, that of the client first. kUnauthenticated: says why (OpenSSL).
  absl::Status Verify(const std::string& chain, Clock::WallTime now) const;

 private:
  struct Store;
  const std::unique_ptr<const Store> store_;
  mutable absl::Mutex mutex_;
  // When known chains expire, by their SHA-256: verifying takes longer than many calls.
  mutable std::map<std::string, Clock::WallTime> valid_until_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace sinew::server
