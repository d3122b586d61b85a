#include "server/threads/quota.h"

#include <absl/time/time.h>

#include "server/base/status.h"

namespace sinew::server {

absl::StatusOr<Quota::Permit> Quota::Take(std::uint64_t amount) {
  {
    const absl::MutexLock lock(&mutex_);
    if (closed_) return Draining();
    if (amount > limit_ || count_ > limit_ - amount) {
      return WithRetry(LimitExceeded(subject_, count_ + amount, limit_, unit_, name_),
                       absl::Seconds(1));
    }
    count_ += amount;
  }
  return Permit(this, [amount](Quota* quota) { quota->GiveBack(amount); });
}

void Quota::GiveBack(std::uint64_t amount) {
  const absl::MutexLock lock(&mutex_);
  count_ -= amount;
}

void Quota::Close() {
  const absl::MutexLock lock(&mutex_);
  closed_ = true;
}

bool Quota::closed() const {
  const absl::MutexLock lock(&mutex_);
  return closed_;
}

std::uint64_t Quota::count() const {
  const absl::MutexLock lock(&mutex_);
  return count_;
}

bool Quota::WaitEmpty(std::chrono::milliseconds timeout) {
  const absl::MutexLock lock(&mutex_);
  return mutex_.AwaitWithTimeout(absl::Condition(this, &Quota::Empty), absl::FromChrono(timeout));
}

}  // namespace sinew::server
