// status_codec.h - converts gRPC statuses and Problem messages to absl::Status, with their details
// as payloads; times and durations.
#pragma once

#include <absl/status/status.h>
#include <google/protobuf/duration.pb.h>
#include <google/protobuf/repeated_ptr_field.h>
#include <google/protobuf/timestamp.pb.h>
#include <grpcpp/support/status.h>

#include <string>
#include <vector>

#include "sinew/messages.h"
#include "sinew/v1/problem.pb.h"

namespace sinew::client {

// All 17 codes map one to one; a code outside them becomes kUnknown. Each detail of the status
// trailer becomes a payload under its type URL.
absl::Status FromGrpc(const grpc::Status& status);

// The error that a problem describes; a code outside 1..16 becomes kUnknown.
absl::Status ToStatus(const v1::Problem& problem);

Problem ToProblem(const v1::Problem& problem);
std::vector<Problem> ToProblems(const google::protobuf::RepeatedPtrField<v1::Problem>& problems);

// kInvalidArgument "field: what", with `field` in its Details.
absl::Status InvalidField(const std::string& field, const std::string& what);

// kFailedPrecondition with reason DETERMINISM_MISMATCH: after a break, another server continues.
absl::Status DeterminismMismatch(const std::string& got, const std::string& need);

// True if the server refused a request for exceeding the limit of that name.
bool ExceededLimit(const absl::Status& status, const std::string& limit);

absl::Duration ToDuration(const google::protobuf::Duration& duration);
absl::Time ToTime(const google::protobuf::Timestamp& time);

// Clamped to the range of the message.
google::protobuf::Duration FromDuration(absl::Duration duration);

}  // namespace sinew::client
