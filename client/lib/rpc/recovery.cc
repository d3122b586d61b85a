#include "client/lib/rpc/recovery.h"

#include <absl/strings/str_cat.h>
#include <absl/time/clock.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <utility>

#include "client/lib/rpc/connection.h"
#include "client/lib/rpc/retry.h"

namespace sinew::client {
namespace {

constexpr int kMaxRestores = 3;

// False if a stop was requested.
bool SleepFor(absl::Duration duration, const std::stop_token& stop) {
  std::mutex mutex;
  std::condition_variable_any wake;
  std::unique_lock lock(mutex);
  wake.wait_for(lock, stop, absl::ToChronoMilliseconds(duration), [] { return false; });
  return !stop.stop_requested();
}

}  // namespace

Recovery::Recovery(const Connection& connection, Repeat repeat, absl::Time deadline,
                   std::stop_token stop, Restore restore)
    : connection_(connection),
      repeat_(repeat),
      deadline_(deadline),
      stop_(std::move(stop)),
      restore_(std::move(restore)) {}

bool Recovery::TryAgain(absl::Status& status) {
  if (Restored(status) || Renewed(status) || Waited(status)) return true;
  status = Final(status);
  return false;
}

absl::Status Recovery::Final(const absl::Status& status) const {
  if (stop_.stop_requested()) return absl::CancelledError("cancelled by the caller");
  const absl::Status explained = Explained(status);
  // The error of a refusal stays, since it says when the caller may try again.
  const bool late = late_ && !IsRefused(status);
  if (!late && (last_failure_.ok() || !absl::IsDeadlineExceeded(status))) {
    return connection_.WithProxy(explained);
  }
  const absl::Status& cause = late ? explained : last_failure_;
  return connection_.WithProxy(absl::DeadlineExceededError(
      absl::StrCat("not done within the deadline; the last failure: ", cause.message())));
}

bool Recovery::HasTimeFor(absl::Duration delay) {
  late_ = absl::Now() + delay >= deadline_;
  return !late_;
}

bool Recovery::Restored(absl::Status& status) {
  if (!restore_) return false;
  // What is made again may be lost again, also while it is made: a proxy sends calls to servers
  // that cannot reach what they share.
  while (IsLost(status)) {
    if (restores_ >= kMaxRestores && !WaitsToRestore(status)) return false;
    ++restores_;
    status = restore_(stop_);
    if (status.ok()) return true;
  }
  return false;
}

bool Recovery::WaitsToRestore(const absl::Status& status) {
  const RetryPolicy& policy = connection_.options().retry;
  const absl::Time now = absl::Now();
  if (restores_ == kMaxRestores) first_wait_ = now;
  const int waits = restores_ - kMaxRestores + 1;
  const absl::Duration delay = NextDelay(policy, waits, status);
  const bool has_time = repeat_ == Repeat::kPersist ? now + delay < first_wait_ + policy.resume_for
                                                    : waits < policy.max_attempts;
  return has_time && HasTimeFor(delay) && SleepFor(delay, stop_);
}

bool Recovery::Renewed(const absl::Status& status) {
  if (!absl::IsUnauthenticated(status) || std::exchange(renewed_, true)) return false;
  return connection_.RenewToken();
}

bool Recovery::Waited(const absl::Status& status) {
  const bool refused = IsRefused(status);
  if (!refused && !IsBroken(status, stop_.stop_requested())) return false;
  const RetryPolicy& policy = connection_.options().retry;
  const absl::Time now = absl::Now();
  const bool first = failures_ == 0 || first_failure_ == absl::InfiniteFuture();
  if (first) first_failure_ = now;
  ++failures_;
  last_failure_ = Explained(status);
  absl::Duration delay = NextDelay(policy, failures_, status);
  // A deadline shorter than the wait leaves time for one attempt, unless the server has set the
  // wait: a connection may have broken that can be made again at once.
  if (now + delay >= deadline_ && !Details(status).retry_delay && !std::exchange(hurried_, true)) {
    delay = (deadline_ - now) / 2;
  }
  const bool persists = repeat_ == Repeat::kPersist;
  const absl::Duration patience = persists ? policy.resume_for : policy.repeat_for;
  // After several short calls the wait may be longer than the patience. It is made shorter once.
  if (persists && first && delay >= patience && !Details(status).retry_delay &&
      !std::exchange(shortened_, true)) {
    delay = patience / 2;
  }
  const bool has_attempts = !persists && failures_ < policy.max_attempts;
  if (!has_attempts && now + delay >= first_failure_ + patience) return false;
  if (!HasTimeFor(delay)) return false;
  const WaitNotice& notice = connection_.options().on_wait;
  if ((refused || patience > absl::ZeroDuration()) && first && notice) {
    const absl::Duration longest =
        has_attempts ? std::max(patience, delay * (policy.max_attempts - failures_)) : patience;
    notice(connection_.WithProxy(last_failure_), std::min(longest, deadline_ - now));
  }
  if (!SleepFor(delay, stop_)) return false;
  if (!refused) connection_.Reconnect(deadline_, stop_);
  return true;
}

void Recovery::Progress() {
  failures_ = restores_ = 0;
  renewed_ = hurried_ = shortened_ = false;
  last_failure_ = absl::OkStatus();
}

void Recovery::Reopened(absl::Duration held, bool owing) {
  if (owing) {
    first_failure_ += held;  // work that breaks every attempt comes to an end
  } else if (held >= connection_.options().retry.max_backoff) {
    Progress();
  } else {
    first_failure_ = absl::InfiniteFuture();  // the waits go on rising
  }
}

}  // namespace sinew::client
