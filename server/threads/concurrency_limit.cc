#include "server/threads/concurrency_limit.h"

#include <utility>

#include "server/base/status.h"

namespace sinew::server {

Gate::Pass& Gate::Pass::operator=(Pass&& other) noexcept {
  Return();
  gate_ = std::exchange(other.gate_, nullptr);
  return *this;
}

void Gate::Pass::Return() {
  if (gate_ == nullptr) return;
  const std::lock_guard lock(gate_->mutex_);
  if (--gate_->count_ == 0) gate_->empty_.notify_all();
  gate_ = nullptr;
}

absl::StatusOr<Gate::Pass> Gate::Enter() {
  const std::lock_guard lock(mutex_);
  if (closed_) return Draining();
  if (count_ >= limit_) {
    return WithRetry(LimitPassed("server", count_ + 1, limit_, unit_, name_), absl::Seconds(1));
  }
  ++count_;
  return Pass(this);
}

void Gate::Close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
}

bool Gate::closed() const {
  const std::lock_guard lock(mutex_);
  return closed_;
}

std::uint64_t Gate::count() const {
  const std::lock_guard lock(mutex_);
  return count_;
}

bool Gate::WaitEmpty(std::chrono::milliseconds timeout) {
  std::unique_lock lock(mutex_);
  return empty_.wait_for(lock, timeout, [this] { return count_ == 0; });
}

}  // namespace sinew::server
