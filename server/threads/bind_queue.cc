#include "server/threads/bind_queue.h"

#include <utility>

#include "server/base/status.h"

namespace sinew::server {

BindQueue::BindQueue(std::size_t capacity, Arenas& arenas)
    : capacity_(capacity), arenas_(arenas), thread_([this] { Loop(); }) {}

BindQueue::~BindQueue() {
  Stop();
}

void BindQueue::Stop() {
  {
    const absl::MutexLock lock(&mutex_);
    stopping_ = true;
  }
  if (thread_.joinable()) thread_.join();
}

absl::Status BindQueue::Push(std::function<void()> job) {
  const absl::MutexLock lock(&mutex_);
  if (stopping_) return Draining();
  if (jobs_.size() >= capacity_) {
    return WithRetry(
        LimitPassed("bind", jobs_.size() + 1, capacity_, "waiting binds", "max-queued-binds"),
        absl::Seconds(5));
  }
  jobs_.push_back(std::move(job));
  return absl::OkStatus();
}

std::size_t BindQueue::queued() const {
  const absl::MutexLock lock(&mutex_);
  return jobs_.size();
}

bool BindQueue::running() const {
  const absl::MutexLock lock(&mutex_);
  return running_;
}

void BindQueue::Loop() {
  const absl::MutexLock lock(&mutex_);
  while (true) {
    mutex_.Await(absl::Condition(this, &BindQueue::Wanted));
    if (jobs_.empty()) return;
    std::function<void()> job = std::move(jobs_.front());
    jobs_.pop_front();
    running_ = true;
    mutex_.Unlock();
    arenas_.Bind(job);
    job = nullptr;  // what it holds may be the last reference to a call
    mutex_.Lock();
    running_ = false;
  }
}

}  // namespace sinew::server
