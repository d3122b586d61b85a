#include "client/lib/rpc/retry.h"

#include <absl/random/random.h>
#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <cmath>

namespace sinew::client {
namespace {

constexpr double kJitter = 0.25;  // so that clients do not return all at once
constexpr char kPageOfProxy[] = "Received http2 header with status";

// A proxy in front of the server does not pass on a request of this size.
bool IsTooLarge(const absl::Status& status) {
  return absl::StrContains(status.message(), absl::StrCat(kPageOfProxy, ": 413"));
}

}  // namespace

bool IsBroken(const absl::Status& status, bool cancelled_here) {
  switch (status.code()) {
    case absl::StatusCode::kUnavailable:
      return true;
    case absl::StatusCode::kCancelled:
      return !cancelled_here;
    case absl::StatusCode::kInternal:
      return absl::StrContains(status.message(), "RST_STREAM");
    case absl::StatusCode::kUnknown:
      return absl::StrContains(status.message(), "Stream removed") ||
             absl::StrContains(status.message(), "No status received") ||
             (absl::StrContains(status.message(), kPageOfProxy) && !IsTooLarge(status));
    default:
      return false;
  }
}

absl::Status Explained(const absl::Status& status) {
  if (IsTooLarge(status)) {
    return absl::UnavailableError(
        "a proxy in front of the server has refused the size of the request (HTTP 413)");
  }
  if (!IsBroken(status, true) || absl::IsUnavailable(status)) return status;
  // A reply without a status before the end of the request, which the server does not send.
  if (absl::StrContains(status.message(), "RST_STREAM with error code 0")) {
    return absl::UnavailableError(
        "a proxy in front of the server has ended the call with a reply of its own");
  }
  return absl::UnavailableError(absl::StrCat("the call was broken off: ", status.message()));
}

bool IsRefused(const absl::Status& status) {
  return absl::IsResourceExhausted(status) && Details(status).retry_delay.has_value();
}

bool IsLost(const absl::Status& status) {
  if (absl::IsNotFound(status)) return true;
  if (absl::IsUnavailable(status)) return Details(status).reason == "NOT_HERE";
  return absl::IsFailedPrecondition(status) && Details(status).reason == "NOT_READY";
}

absl::Status CheckPolicy(const RetryPolicy& policy) {
  if (policy.max_attempts < 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("retry.max_attempts: got ", policy.max_attempts, ", need at least 1"));
  }
  if (policy.repeat_for < absl::ZeroDuration() || policy.resume_for < absl::ZeroDuration()) {
    return absl::InvalidArgumentError(
        absl::StrCat("retry.repeat_for, resume_for: got ", absl::FormatDuration(policy.repeat_for),
                     ", ", absl::FormatDuration(policy.resume_for), ", need 0 or more"));
  }
  if (policy.initial_backoff < absl::ZeroDuration() ||
      policy.max_backoff < policy.initial_backoff || policy.max_backoff > absl::Hours(1)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "retry.initial_backoff, max_backoff: got ", absl::FormatDuration(policy.initial_backoff),
        ", ", absl::FormatDuration(policy.max_backoff), ", need 0 <= initial <= max <= 1h"));
  }
  return absl::OkStatus();
}

absl::Duration BackoffDelay(const RetryPolicy& policy, int attempt, double random) {
  // The exponent is capped: zero backoff times infinity would be infinite.
  const double factor = std::exp2(std::clamp(attempt - 1, 0, 100));
  const absl::Duration base = std::min(policy.initial_backoff * factor, policy.max_backoff);
  return base * (1 - kJitter + 2 * kJitter * random);
}

absl::Duration NextDelay(const RetryPolicy& policy, int attempt, const absl::Status& status) {
  thread_local absl::BitGen generator;
  const double random = absl::Uniform<double>(generator, 0, 1);
  const absl::Duration delay = BackoffDelay(policy, attempt, random);
  const ErrorDetails details = Details(status);
  if (details.reason == "DRAINING") return delay;
  return std::max(delay, details.retry_delay.value_or(absl::ZeroDuration()));
}

}  // namespace sinew::client
