#include "server/threads/rate_limit.h"

#include <absl/strings/str_cat.h>
#include <absl/time/time.h>

#include <algorithm>

#include "server/base/status.h"

namespace sinew::server {

double RateLimit::Left(const Bucket& bucket, Time now) const {
  const double passed = std::chrono::duration<double>(now - bucket.since).count();
  return std::min(per_second_, bucket.left + std::max(0.0, passed) * per_second_);
}

void RateLimit::SetRate(double per_second) {
  const absl::MutexLock lock(&mutex_);
  per_second_ = per_second;
}

absl::Status RateLimit::Take(const std::string& client, Time now) {
  if (client.empty()) return absl::OkStatus();
  const absl::MutexLock lock(&mutex_);
  if (buckets_.size() >= sweep_at_) {
    std::erase_if(buckets_, [&](const auto& entry) {
      mutex_.AssertHeld();
      return Left(entry.second, now) >= per_second_;
    });
    sweep_at_ = std::max(kBuckets, 2 * buckets_.size());
  }
  Bucket& bucket = buckets_.emplace(client, Bucket{per_second_, now}).first->second;
  const double left = Left(bucket, now);
  if (left < 1) {
    return WithRetry(LimitExceeded("server",
                                   absl::StrCat("one client made more than ", per_second_, " ",
                                                std::string(unit_), " a second"),
                                   name_),
                     absl::Seconds((1 - left) / per_second_));
  }
  bucket = {left - 1, std::max(now, bucket.since)};
  return absl::OkStatus();
}

}  // namespace sinew::server
