#include "server/threads/workers.h"

#include <utility>

#include "server/base/status.h"

namespace sinew::server {

Workers::Workers(std::size_t threads, const Queue& queue) : queue_(queue) {
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
  if (work_.size() >= queue_.capacity) {
    return WithRetry(LimitExceeded(queue_.subject, work_.size() + 1, queue_.capacity, queue_.unit,
                                   queue_.option),
                     queue_.retry);
  }
  work_.push_back(std::move(work));
  return absl::OkStatus();
}

std::size_t Workers::queued() const {
  const absl::MutexLock lock(&mutex_);
  return work_.size();
}

std::size_t Workers::running() const {
  const absl::MutexLock lock(&mutex_);
  return running_;
}

bool Workers::idle() const {
  const absl::MutexLock lock(&mutex_);
  return work_.empty() && running_ == 0;
}

void Workers::Loop() {
  const absl::MutexLock lock(&mutex_);
  while (true) {
    mutex_.Await(absl::Condition(this, &Workers::Wanted));
    if (work_.empty()) return;
    std::function<void()> work = std::move(work_.front());
    work_.pop_front();
    ++running_;
    mutex_.Unlock();
    work();
    work = nullptr;  // what it holds may be the last reference to a call
    mutex_.Lock();
    --running_;
  }
}

}  // namespace sinew::server
