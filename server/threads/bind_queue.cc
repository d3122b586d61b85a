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
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

absl::Status BindQueue::Push(std::function<void()> job) {
  {
    const std::lock_guard lock(mutex_);
    if (stopping_) return Draining();
    if (jobs_.size() >= capacity_) {
      return WithRetry(
          LimitPassed("bind", jobs_.size() + 1, capacity_, "waiting binds", "max-queued-binds"),
          absl::Seconds(5));
    }
    jobs_.push_back(std::move(job));
  }
  changed_.notify_all();
  return absl::OkStatus();
}

std::size_t BindQueue::queued() const {
  const std::lock_guard lock(mutex_);
  return jobs_.size();
}

bool BindQueue::running() const {
  const std::lock_guard lock(mutex_);
  return running_;
}

void BindQueue::Loop() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return stopping_ || !jobs_.empty(); });
    if (jobs_.empty()) return;
    {
      const std::function<void()> job = std::move(jobs_.front());
      jobs_.pop_front();
      running_ = true;
      lock.unlock();
      arenas_.Bind(job);
    }
    lock.lock();
    running_ = false;
  }
}

}  // namespace sinew::server
