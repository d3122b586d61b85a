// rate_limit.h - how often each client may do something: a token bucket that holds what one second
// allows.
#pragma once

#include <absl/base/thread_annotations.h>
#include <absl/status/status.h>
#include <absl/synchronization/mutex.h>

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>

namespace sinew::server {

// Thread-safe.
class RateLimit {
 public:
  using Time = std::chrono::steady_clock::time_point;

  // name: the limit's option; unit: what is counted, "calls". Both must outlive this.
  RateLimit(double per_second, std::string_view name, std::string_view unit)
      : name_(name), unit_(unit), per_second_(per_second) {}

  // client: as Caller::client(); empty = not limited. kResourceExhausted: not now; says when.
  absl::Status Take(const std::string& client, Time now);
  void SetRate(double per_second);

 private:
  struct Bucket {
    double left;  // at `since`
    Time since;
  };
  static constexpr std::size_t kBuckets = 1024;
  double Left(const Bucket& bucket, Time now) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const std::string_view name_, unit_;
  absl::Mutex mutex_;
  double per_second_ ABSL_GUARDED_BY(mutex_);
  std::unordered_map<std::string, Bucket> buckets_ ABSL_GUARDED_BY(mutex_);
  // Number of buckets at which full ones, which say nothing, are forgotten.
  std::size_t sweep_at_ ABSL_GUARDED_BY(mutex_) = kBuckets;
};

}  // namespace sinew::server
