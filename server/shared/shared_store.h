// shared_store.h - the ObjectStore of a server, as its caches use it: with metrics, without waiting
// for a store that is down, and with what could not be written written later.
//
// After an error that says that the store is down, calls fail at once until a thread of this object
// has reached it again. Serving never depends on it: what cannot be fetched is computed.
#pragma once

#include <absl/base/thread_annotations.h>
#include <absl/status/statusor.h>
#include <absl/synchronization/mutex.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "server/base/log.h"
#include "server/base/metrics.h"
#include "server/shared/object_store.h"

namespace sinew::server {

// Thread-safe.
class SharedStore {
 public:
  // Errors as ObjectStore::Open.
  static absl::StatusOr<std::unique_ptr<SharedStore>> Open(const SharedConfig& config,
                                                           Metrics& metrics, Log log);
  SharedStore(std::unique_ptr<ObjectStore> store, Metrics& metrics, Log log);
  ~SharedStore();

  // These call those of ObjectStore; kUnavailable at once while the store is known to be down.
  absl::StatusOr<std::string> Get(const std::string& name, std::uint64_t most_bytes);
  absl::Status Put(const std::string& name, std::string_view bytes);
  absl::StatusOr<bool> Has(const std::string& name);
  absl::Status Remove(const std::string& name);
  absl::StatusOr<std::vector<ObjectStore::Object>> List(const std::string& prefix,
                                                        const std::string& after,
                                                        std::size_t count);
  absl::StatusOr<std::unique_ptr<ObjectStore::Claim>> TakeClaim(const std::string& name) {
    return store_->TakeClaim(name);
  }

  // What PutLater writes: its bytes when its turn comes. kNotFound: there is nothing to write any
  // more.
  using Source = std::function<absl::StatusOr<std::string>()>;
  // Writes an object on another thread, unless it exists, and again until that succeeds; `done` is
  // called after each attempt. A later call for the same name replaces an earlier one.
  void PutLater(const std::string& name, Source source,
                std::function<void(const absl::Status&)> done = {});
  std::size_t pending() const;
  bool up() const;

  // Writes what waits, for up to `time`: what has failed, as on a full disk, is tried once more,
  // nothing is if the store is down. Then ends the threads. Sources are not called afterwards.
  // Idempotent.
  void Stop(std::chrono::milliseconds time);

 private:
  struct Waiting {
    Source source;
    std::function<void(const absl::Status&)> done;
    std::chrono::steady_clock::time_point not_before = {};
    std::chrono::milliseconds backoff{0};  // after failures
    int generation = 0;                    // of PutLater
    bool running = false;
    bool given_up = false;  // it failed while the server ends
  };
  // What the result of a request says about the store.
  absl::Status Ended(const char* operation, absl::Status status,
                     std::chrono::steady_clock::time_point start);
  template <class Result, class Request>
  Result Run(const char* operation, const Request& request);
  void Loop();
  // The next that may be written, or null: `wake` is when to look again.
  const std::string* Next(std::chrono::steady_clock::time_point now,
                          std::chrono::steady_clock::time_point& wake) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Whether the object is there now; false: its source has nothing to write any more.
  absl::StatusOr<bool> Write(const std::string& name, const Source& source);
  void WriteNext(const std::string& name) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Probe() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const std::unique_ptr<ObjectStore> store_;
  Metrics& metrics_;
  const Log log_;
  mutable absl::Mutex mutex_;
  absl::CondVar changed_;
  bool down_ ABSL_GUARDED_BY(mutex_) = false;
  std::chrono::steady_clock::time_point next_probe_ ABSL_GUARDED_BY(mutex_);
  std::map<std::string, Waiting> waiting_ ABSL_GUARDED_BY(mutex_);
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  bool ending_ ABSL_GUARDED_BY(mutex_) = false;  // in Stop: every object has one more attempt
  // Until when objects that are not written for this reason are not logged.
  std::map<absl::StatusCode, std::chrono::steady_clock::time_point> quiet_until_
      ABSL_GUARDED_BY(mutex_);
  std::vector<std::thread> writers_;
};

}  // namespace sinew::server
