#include "server/store/single_flight.h"

#include <absl/synchronization/notification.h>

#include <utility>

#include "server/base/catch_exceptions.h"

namespace sinew::server {

absl::Status SingleFlight::Run(const std::string& key, const std::function<absl::Status()>& work) {
  absl::Status status;
  absl::Notification done;
  const auto take = [&](const absl::Status& ended) {
    status = ended;
    done.Notify();
  };
  mutex_.Lock();
  const auto [flight, is_first] = waiting_.try_emplace(key);
  if (!is_first) flight->second.emplace(++last_wait_, take);
  mutex_.Unlock();
  if (!is_first) {
    done.WaitForNotification();
    return status;
  }
  status = CatchExceptions(work);
  std::map<std::uint64_t, Ended> waiting;
  {
    const absl::MutexLock lock(&mutex_);
    waiting = std::move(waiting_.extract(key).mapped());
  }
  for (const auto& [wait, ended] : waiting) ended(status);
  return status;
}

std::uint64_t SingleFlight::Await(const std::string& key, Ended ended) {
  const absl::MutexLock lock(&mutex_);
  const auto flight = waiting_.find(key);
  if (flight == waiting_.end()) return 0;
  flight->second.emplace(++last_wait_, std::move(ended));
  return last_wait_;
}

void SingleFlight::Forget(const std::string& key, std::uint64_t wait) {
  Ended dropped;  // destroyed without the mutex: it may be the last reference to a call
  const absl::MutexLock lock(&mutex_);
  const auto flight = waiting_.find(key);
  if (flight == waiting_.end()) return;
  if (const auto ended = flight->second.find(wait); ended != flight->second.end()) {
    dropped = std::move(ended->second);
    flight->second.erase(ended);
  }
}

}  // namespace sinew::server
