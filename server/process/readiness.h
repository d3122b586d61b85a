// readiness.h - whether the server can do its work, for /readyz.
#pragma once

#include <absl/base/thread_annotations.h>
#include <absl/status/status.h>
#include <absl/synchronization/mutex.h>

#include <memory>
#include <string>
#include <utility>

#include "server/base/clock.h"
#include "server/process/http.h"
#include "server/runtime.h"

namespace sinew::server {

// Checks that the server does not drain, that its own port answers a health check through a socket,
// that its worker threads and pose arena run jobs, and that the data-dir can be written to and has
// space. Thread-safe.
class Readiness {
 public:
  // address: of the own port; empty = there is none.
  Readiness(Runtime& runtime, std::string address)
      : runtime_(runtime), address_(std::move(address)) {}

  // A check takes up to a second; its result is used for a second.
  HttpPort::Probe Check();

 private:
  struct Round;
  HttpPort::Probe CheckNow() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Start(Clock::Time now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  Runtime& runtime_;
  const std::string address_;
  absl::Mutex mutex_;
  std::shared_ptr<Round> round_ ABSL_GUARDED_BY(mutex_);  // of checks, the last one
  HttpPort::Probe last_ ABSL_GUARDED_BY(mutex_);
  Clock::Time expires_ ABSL_GUARDED_BY(mutex_);
};

// Bytes that an unprivileged process can still write under a folder.
std::uint64_t FreeBytes(const std::string& folder);

}  // namespace sinew::server
