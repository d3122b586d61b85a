// status.h - errors sent to clients: absl::Status with google.rpc details, and grpc::Status.
//
// Details are payloads of the absl::Status, keyed by type URL, and a google.rpc.Status in the
// binary trailer `grpc-status-details-bin`. All 17 codes are preserved. Inside sessions and streams
// the same error is a Problem.
#pragma once

#include <absl/status/status.h>
#include <absl/time/time.h>
#include <grpcpp/support/status.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/problem.h"
#include "sinew/v1/problem.pb.h"

namespace sinew::server {

// INVALID_ARGUMENT about one field: message "path: what", reason INVALID_FIELD, BadRequest with the
// path.
absl::Status InvalidField(std::string_view path, std::string_view what);

// RESOURCE_EXHAUSTED: message "path: got N unit, limit M (max-x)", reason LIMIT, QuotaFailure
// naming the limit. The second form has `what` instead of "got N unit, limit M".
absl::Status LimitExceeded(std::string_view path, std::uint64_t got, std::uint64_t limit,
                           std::string_view unit, std::string_view limit_name);
absl::Status LimitExceeded(std::string_view path, std::string_view what,
                           std::string_view limit_name);
// LimitExceeded for a time: a part of a second counts as one, so that the message shows more than
// the limit.
absl::Status TimeExceeded(std::string_view path, double got_seconds, double limit_seconds,
                          std::string_view limit_name);

// LimitExceeded if `got` is more than `limit`.
absl::Status CheckLimit(std::string_view path, std::uint64_t got, std::uint64_t limit,
                        std::string_view unit, std::string_view limit_name);

// Adds ErrorInfo with the reason's name, replacing an existing one.
absl::Status WithReason(absl::Status status, v1::Reason reason);
// Adds RetryInfo.
absl::Status WithRetry(absl::Status status, absl::Duration delay);
// Prepends "path." to the message and to the field in the details.
absl::Status WithPath(const absl::Status& status, std::string_view path);

// UNAVAILABLE, reason DRAINING.
absl::Status Draining();

// The name in ErrorInfo and metrics: "WINDOW_STALLED".
std::string NameOf(v1::Reason reason);
// The reason in the details, or REASON_UNSPECIFIED; the field path in the details, or empty.
v1::Reason ReasonOf(const absl::Status& status);
std::string FieldOf(const absl::Status& status);
// The option that LimitExceeded named, or empty.
std::string LimitOf(const absl::Status& status);

// An INVALID_ARGUMENT or OUT_OF_RANGE without details whose message begins with a path receives
// the details of InvalidField.
absl::Status WithDetails(absl::Status status);

grpc::Status ToGrpc(const absl::Status& status);
v1::Problem ToProblem(const absl::Status& status);

// A problem that does not fail the call. `path`: prefix of problem.field in the request; empty =
// problem.field is the whole path.
v1::Problem ToProto(const Problem& problem, std::string_view path = {});

}  // namespace sinew::server
