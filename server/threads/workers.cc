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
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) {
    if (thread.joinable()) thread.join();
  }
}

absl::Status Workers::Post(std::function<void()> work) {
  {
    const std::lock_guard lock(mutex_);
    if (stopping_) return Draining();
    if (work_.size() >= queue_) {
      return WithRetry(LimitPassed("server", work_.size() + 1, queue_, "waiting calls", "workers"),
                       absl::Seconds(1));
    }
    work_.push_back(std::move(work));
  }
  changed_.notify_one();
  return absl::OkStatus();
}

void Workers::Loop() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return stopping_ || !work_.empty(); });
    if (work_.empty()) return;
    const std::function<void()> work = std::move(work_.front());
    work_.pop_front();
    lock.unlock();
    work();
    lock.lock();
  }
}

}  // namespace sinew::server
