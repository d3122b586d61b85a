#include "server/threads/quota.h"

#include <absl/time/time.h>

#include <utility>

#include "server/base/status.h"

namespace sinew::server {

ConcurrencyLimit::Permit& ConcurrencyLimit::Permit::operator=(Permit&& other) noexcept {
  Return();
  limit_ = std::exchange(other.limit_, nullptr);
  return *this;
}

void ConcurrencyLimit::Permit::Return() {
  if (limit_ == nullptr) return;
  const absl::MutexLock lock(&limit_->mutex_);
  --limit_->count_;
}

absl::StatusOr<ConcurrencyLimit::Permit> ConcurrencyLimit::Enter() {
  const absl::MutexLock lock(&mutex_);
  if (closed_) return Draining();
  if (count_ >= limit_) {
    return WithRetry(LimitPassed("server", count_ + 1, limit_, unit_, name_), absl::Seconds(1));
  }
  ++count_;
  return Permit(this);
}

void ConcurrencyLimit::Close() {
  const absl::MutexLock lock(&mutex_);
  closed_ = true;
}

bool ConcurrencyLimit::closed() const {
  const absl::MutexLock lock(&mutex_);
  return closed_;
}

std::uint64_t ConcurrencyLimit::count() const {
  const absl::MutexLock lock(&mutex_);
  return count_;
}

bool ConcurrencyLimit::WaitEmpty(std::chrono::milliseconds timeout) {
  const absl::MutexLock lock(&mutex_);
  return mutex_.AwaitWithTimeout(absl::Condition(this, &ConcurrencyLimit::Empty),
                                 absl::FromChrono(timeout));
}

}  // namespace sinew::server
