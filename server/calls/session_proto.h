// session_proto.h - sessions, durations and instants to protobuf and back.
#pragma once

#include <absl/status/statusor.h>

#include <chrono>

#include "server/base/clock.h"
#include "server/store/bound_deformer.h"
#include "server/store/session_table.h"
#include "sinew/v1/session_service.pb.h"

namespace sinew::server {

v1::Session ToProto(const SessionTable::Lease& lease, const Clock& clock);
// The estimate and the warnings.
void SetForecast(const Forecast& forecast, v1::Session& session);

// kInvalidArgument: not a duration of 1 s or more, or above `longest_seconds` (kResourceExhausted).
// Names "ttl".
absl::StatusOr<std::chrono::nanoseconds> ReadTtl(const google::protobuf::Duration& ttl,
                                                 double longest_seconds);

}  // namespace sinew::server
