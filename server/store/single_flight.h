// single_flight.h - work that one thread does while others wait for its result.
#pragma once

#include <absl/base/thread_annotations.h>
#include <absl/status/status.h>
#include <absl/synchronization/mutex.h>

#include <cstdint>
#include <functional>
#include <map>
#include <string>

namespace sinew::server {

// Thread-safe.
class SingleFlight {
 public:
  // Returns work(), or the result of the thread that does the work of this key now.
  absl::Status Run(const std::string& key, const std::function<absl::Status()>& work);

  // If a thread does it now: calls `ended` afterwards, on that thread, unless Forget is called
  // before. 0: no thread does.
  using Ended = std::function<void(const absl::Status&)>;
  std::uint64_t Await(const std::string& key, Ended ended);
  void Forget(const std::string& key, std::uint64_t wait);

 private:
  absl::Mutex mutex_;
  std::map<std::string, std::map<std::uint64_t, Ended>> waiting_ ABSL_GUARDED_BY(mutex_);
  std::uint64_t last_wait_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace sinew::server
