#include "server/threads/quota.h"

#include <absl/strings/str_cat.h>
#include <absl/time/time.h>

#include <algorithm>

#include "server/base/status.h"

namespace sinew::server {

std::uint64_t Quota::MostFor(const std::string& client, std::uint64_t others) const {
  const std::uint64_t rest = limit_ - std::min(others, limit_);
  if (client.empty() || share_ >= 1) return rest;
  return std::max<std::uint64_t>(1, static_cast<std::uint64_t>(share_ * static_cast<double>(rest)));
}

Quota::Refusal Quota::Judge(const std::string& client, std::uint64_t amount) const {
  const std::uint64_t held = HeldBy(client);
  const bool full = amount > limit_ || count_ > limit_ - amount;
  if (!full && held + amount <= MostFor(client, count_ - held)) return Refusal::kNone;
  if (amount > limit_ || amount > MostFor(client, 0)) return Refusal::kNever;
  return full ? Refusal::kFull : Refusal::kShare;
}

Quota::Refusal Quota::Try(const std::string& client, std::uint64_t amount) const {
  const absl::MutexLock lock(&mutex_);
  return Judge(client, amount);
}

// To a client among others, it does not say what those hold.
std::string Quota::Describe(Refusal refusal, const std::string& client,
                            std::uint64_t amount) const {
  const std::string unit(unit_);
  if (client.empty() || share_ >= 1) {
    return absl::StrCat("got ", count_ + amount, " ", unit, ", limit ", limit_);
  }
  if (refusal == Refusal::kFull) {
    return absl::StrCat("got ", amount, " ", unit, " more, all clients together hold the limit of ",
                        limit_);
  }
  return absl::StrCat("got ", HeldBy(client) + amount, " ", unit, ", limit ", share_,
                      " of what other clients leave of ", limit_);
}

absl::StatusOr<Quota::Permit> Quota::Take(const std::string& client, std::uint64_t amount) {
  {
    const absl::MutexLock lock(&mutex_);
    if (closed_) return Draining();
    const Refusal refusal = Judge(client, amount);
    if (refusal != Refusal::kNone) {
      const absl::Status status = LimitExceeded(subject_, Describe(refusal, client, amount), name_);
      return refusal == Refusal::kNever ? status : WithRetry(status, absl::FromChrono(retry_));
    }
    Count(client, amount);
  }
  return MakePermit(client, amount);
}

Quota::Permit Quota::TakeBeyondLimit(const std::string& client, std::uint64_t amount) {
  {
    const absl::MutexLock lock(&mutex_);
    Count(client, amount);
  }
  return MakePermit(client, amount);
}

Quota::Permit Quota::Wait(std::uint64_t amount) {
  {
    const absl::MutexLock lock(&mutex_);
    const std::uint64_t turn = ++last_turn_;
    const auto fits = [&] {  // the limit may change meanwhile
      mutex_.AssertHeld();
      return turn == next_turn_ && count_ + std::min(amount, limit_) <= limit_;
    };
    mutex_.Await(absl::Condition(&fits));
    amount = std::min(amount, limit_);
    ++next_turn_;
    Count({}, amount);
  }
  return MakePermit({}, amount);
}

void Quota::Count(const std::string& client, std::uint64_t amount) {
  if (!client.empty() && amount > 0) held_[client] += amount;
  count_ += amount;
}

Quota::Permit Quota::MakePermit(const std::string& client, std::uint64_t amount) {
  return Permit(this, [client, amount](Quota* quota) { quota->GiveBack(client, amount); });
}

void Quota::GiveBack(const std::string& client, std::uint64_t amount) {
  const absl::MutexLock lock(&mutex_);
  count_ -= amount;
  if (client.empty() || amount == 0) return;
  const auto found = held_.find(client);
  if ((found->second -= amount) == 0) held_.erase(found);
}

void Quota::SetLimit(std::uint64_t limit) {
  const absl::MutexLock lock(&mutex_);
  limit_ = limit;
}

std::uint64_t Quota::limit() const {
  const absl::MutexLock lock(&mutex_);
  return limit_;
}

void Quota::Close() {
  const absl::MutexLock lock(&mutex_);
  closed_ = true;
}

bool Quota::closed() const {
  const absl::MutexLock lock(&mutex_);
  return closed_;
}

std::uint64_t Quota::most_held() const {
  const absl::MutexLock lock(&mutex_);
  std::uint64_t most = 0;
  for (const auto& [client, held] : held_) most = std::max(most, held);
  return most;
}

std::uint64_t Quota::held(const std::string& client) const {
  const absl::MutexLock lock(&mutex_);
  return HeldBy(client);
}

std::uint64_t Quota::HeldBy(const std::string& client) const {
  const auto found = held_.find(client);
  return found == held_.end() ? 0 : found->second;
}

std::uint64_t Quota::count() const {
  const absl::MutexLock lock(&mutex_);
  return count_;
}

std::uint64_t Quota::waiting() const {
  const absl::MutexLock lock(&mutex_);
  return last_turn_ + 1 - next_turn_;
}

bool Quota::WaitEmpty(std::chrono::milliseconds timeout) {
  const absl::MutexLock lock(&mutex_);
  return mutex_.AwaitWithTimeout(absl::Condition(this, &Quota::Empty), absl::FromChrono(timeout));
}

}  // namespace sinew::server
