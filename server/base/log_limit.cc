#include "server/base/log_limit.h"

#include <utility>

namespace sinew::server {

bool LogLimit::Admit(const FailureKind& kind, Clock::Time now) {
  const absl::MutexLock lock(&mutex_);
  auto found = periods_.find(kind);
  if (found == periods_.end()) {
    const FailureKind others{.client = "others", .principal = {}};
    found =
        periods_.try_emplace(periods_.size() < kKinds ? kind : others, Period{.end = now + kPeriod})
            .first;
  }
  return ++found->second.lines <= kLines;
}

std::vector<LogLimit::Suppressed> LogLimit::TakeEnded(Clock::Time now) {
  std::vector<Suppressed> suppressed;
  const absl::MutexLock lock(&mutex_);
  std::erase_if(periods_, [&](const auto& entry) {
    const auto& [kind, period] = entry;
    if (now < period.end) return false;
    if (period.lines > kLines) suppressed.push_back({kind, period.lines - kLines});
    return true;
  });
  return suppressed;
}

}  // namespace sinew::server
