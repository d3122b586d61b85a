// retry.h - which errors justify a retry, and the wait before it. Pure functions without a clock.
//
// Behind a proxy, a replica that dies during a stream is rarely reported as UNAVAILABLE: haproxy
// reports CANCELLED, nginx and caddy INTERNAL with "RST_STREAM", and gRPC itself UNKNOWN: "Stream
// removed" for a lost connection, "No status received" for a reply that ends early, "Received http2
// header" for a page of the proxy's own. The server never sends UNKNOWN.
#pragma once

#include <absl/status/status.h>
#include <absl/time/time.h>

#include <optional>

#include "sinew/client.h"

namespace sinew::client {

// True if the transport or the shutdown of the server ended the call, not its content.
//   cancelled_here  the caller cancelled, so that CANCELLED is final
bool IsBroken(const absl::Status& status, bool cancelled_here);

// An error of the transport as kUnavailable, in words of its own where a proxy is known to have
// caused it. Returns any other as it is.
absl::Status Explained(const absl::Status& status);

// True if the server refused the call before any work, for lack of something that becomes free, and
// said when to repeat it.
bool IsRefused(const absl::Status& status);

// True if the server no longer has the session, rig or bound data of the call, or cannot find out
// about it, so that making it again would help.
bool IsLost(const absl::Status& status);

// kInvalidArgument: a field out of range.
absl::Status CheckPolicy(const RetryPolicy& policy);

// Wait before attempt `attempt` + 1 according to the policy.
//   attempt  failed attempts so far, from 1
//   random   in [0, 1)
absl::Duration BackoffDelay(const RetryPolicy& policy, int attempt, double random);

// BackoffDelay with a random number, but at least the retry delay in the details of `status`.
absl::Duration NextDelay(const RetryPolicy& policy, int attempt, const absl::Status& status);

}  // namespace sinew::client
