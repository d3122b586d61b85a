#include "server/threads/workers.h"

#include <utility>

#include "server/base/status.h"

namespace sinew::server {

Workers::Workers(std::size_t threads, std::size_t queue) : queue_(queue) {
  for (std::size_t i = 0; i < threads; ++i) threads_.emplace_back([this] { Loop(); });
}

Workers::~Workers() {
  Stop();
}

void Workers::Stop() {
  {
    const absl::MutexLock lock(&mutex_);
    stopping_ = true;
  }
  for (std::thread& thread : threads_) {
    if (thread.joinable()) thread.join();
  }
}

absl::Status Workers::Post(std::function<void()> work) {
  const absl::MutexLock lock(&mutex_);
  if (stopping_) return Draining();
  if (work_.size() >= queue_) {
    return WithRetry(LimitPassed("server", work_.size() + 1, queue_, "waiting calls", "workers"),
                     absl::Seconds(1));
  }
  work_.push_back(std::move(work));
  return absl::OkStatus();
}

void Workers::Loop() {
  const absl::MutexLock lock(&mutex_);
  while (true) {
    mutex_.Await(absl::Condition(this, &Workers::Wanted));
    if (work_.empty()) return;
    std::function<void()> work = std::move(work_.front());
    work_.pop_front();
    mutex_.Unlock();
    work();
    work = nullptr;  // what it holds may be the last reference to a call
    mutex_.Lock();
  }
}

}  // namespace sinew::server
