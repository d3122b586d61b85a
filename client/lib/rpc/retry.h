// retry.h - which errors are worth another try, and how long to wait before it. Pure functions, no
// clock.
//
// A replica that dies under a stream seldom shows as UNAVAILABLE behind a proxy: haproxy turns it
// into CANCELLED, nginx and caddy into INTERNAL with "RST_STREAM", and gRPC itself says UNKNOWN
// "Stream removed" when a connection is lost.
#pragma once

#include <absl/status/status.h>
#include <absl/time/time.h>

#include <optional>

#include "sinew/client.h"

namespace sinew::client {

// True if the transport or the server's shutdown ended the call, not its content.
//   cancelled_here  the caller cancelled: then CANCELLED is final
bool IsBroken(const absl::Status& status, bool cancelled_here);

// True if the server no longer holds what the call names (session, rig or bound data) and making it
// again would help.
bool IsLost(const absl::Status& status);

// kInvalidArgument: a field out of range.
absl::Status CheckPolicy(const RetryPolicy& policy);

// Wait before attempt `attempt` + 1, without the server's own wish.
//   attempt  failed attempts so far, from 1
//   random   in [0, 1)
absl::Duration BackoffDelay(const RetryPolicy& policy, int attempt, double random);

// The same with this thread's random numbers, and at least as long as the server asked for in
// `status`.
absl::Duration NextDelay(const RetryPolicy& policy, int attempt, const absl::Status& status);

}  // namespace sinew::client
