// status_codec.h - gRPC statuses and problems inside messages as absl::Status, details kept as
// payloads.
#pragma once

#include <absl/status/status.h>
#include <google/protobuf/duration.pb.h>
#include <google/protobuf/timestamp.pb.h>
#include <grpcpp/support/status.h>

#include "sinew/messages.h"
#include "sinew/v1/problem.pb.h"

namespace sinew::client {

// All 17 codes map one to one; a code outside them becomes kUnknown. Each detail of the status
// trailer becomes a payload under its type URL.
absl::Status FromGrpc(const grpc::Status& status);

// As the error it describes; a code outside 1..16 becomes kUnknown.
absl::Status ToStatus(const v1::Problem& problem);

Problem ToProblem(const v1::Problem& problem);

absl::Duration ToDuration(const google::protobuf::Duration& duration);
absl::Time ToTime(const google::protobuf::Timestamp& time);

// Clamped to what the message can hold.
google::protobuf::Duration FromDuration(absl::Duration duration);

}  // namespace sinew::client
