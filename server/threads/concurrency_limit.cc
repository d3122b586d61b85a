#include "server/threads/concurrency_limit.h"

#include <utility>

#include "server/base/status.h"

namespace sinew::server {

ConcurrencyLimit::Permit& ConcurrencyLimit::Permit::operator=(Permit&& other) noexcept {
  Return();
  gate_ = std::exchange(other.gate_, nullptr);
  return *this;
}

void ConcurrencyLimit::Permit::Return() {
  if (gate_ == nullptr) return;
  const std::lock_guard lock(gate_->mutex_);
  if (--gate_->count_ == 0) gate_->empty_.notify_all();
  gate_ = nullptr;
}

absl::StatusOr<ConcurrencyLimit::Permit> ConcurrencyLimit::Enter() {
  const std::lock_guard lock(mutex_);
  if (closed_) return Draining();
  if (count_ >= limit_) {
    return WithRetry(LimitPassed("server", count_ + 1, limit_, unit_, name_), absl::Seconds(1));
  }
  ++count_;
  return Permit(this);
}

void ConcurrencyLimit::Close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
}

bool ConcurrencyLimit::closed() const {
  const std::lock_guard lock(mutex_);
  return closed_;
}

std::uint64_t ConcurrencyLimit::count() const {
  const std::lock_guard lock(mutex_);
  return count_;
}

bool ConcurrencyLimit::WaitEmpty(std::chrono::milliseconds timeout) {
  std::unique_lock lock(mutex_);
  return empty_.wait_for(lock, timeout, [this] { return count_ == 0; });
}

}  // namespace sinew::server
