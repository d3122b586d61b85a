#include "client/lib/codec/status_codec.h"

#include <absl/strings/cord.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/strip.h>

#include <algorithm>
#include <string>
#include <utility>

#include "client/lib/base/error_details.h"
#include "google/rpc/status.pb.h"

namespace sinew::client {
namespace {

constexpr int kMaxCode = 16;

absl::StatusCode ToCode(int code) {
  return code >= 0 && code <= kMaxCode ? static_cast<absl::StatusCode>(code)
                                       : absl::StatusCode::kUnknown;
}

std::string ReasonName(v1::Reason reason) {
  if (reason == v1::REASON_UNSPECIFIED) return {};
  const std::string& name = v1::Reason_Name(reason);
  if (name.empty()) return absl::StrCat(kReasonPrefix, static_cast<int>(reason));
  return std::string(absl::StripPrefix(name, kReasonPrefix));
}

// An unknown severity is an error if the problem has an error code.
Severity ToSeverity(const v1::Problem& problem) {
  switch (problem.severity()) {
    case v1::SEVERITY_INFO:
      return Severity::kInfo;
    case v1::SEVERITY_WARNING:
      return Severity::kWarning;
    case v1::SEVERITY_ERROR:
      return Severity::kError;
    default:
      return problem.code() == 0 ? Severity::kWarning : Severity::kError;
  }
}

// gRPC names its resolver's library and query where the user only has to know the host.
std::string WithoutResolver(const std::string& message) {
  absl::string_view target = message;
  if (!absl::ConsumePrefix(&target, "DNS resolution failed for ")) return message;
  return absl::StrCat(target.substr(0, target.find(": ")), ": no such host");
}

}  // namespace

absl::Status FromGrpc(const grpc::Status& status) {
  if (status.ok()) return absl::OkStatus();
  absl::Status result(ToCode(status.error_code()), WithoutResolver(status.error_message()));
  google::rpc::Status details;
  if (!status.error_details().empty() && details.ParseFromString(status.error_details())) {
    for (const google::protobuf::Any& detail : details.details()) {
      result.SetPayload(detail.type_url(), absl::Cord(detail.value()));
    }
  }
  return result;
}

absl::Status ToStatus(const v1::Problem& problem) {
  const absl::StatusCode code = ToCode(problem.code());
  absl::Status result(code == absl::StatusCode::kOk ? absl::StatusCode::kUnknown : code,
                      problem.message());
  AttachReason(result, ReasonName(problem.reason()));
  if (!problem.field().empty()) AttachField(result, problem.field(), problem.message());
  return result;
}

Problem ToProblem(const v1::Problem& problem) {
  return {.severity = ToSeverity(problem),
          .message = problem.message(),
          .field = problem.field(),
          .code = ToCode(problem.code()),
          .reason = ReasonName(problem.reason())};
}

absl::Status InvalidField(const std::string& field, const std::string& what) {
  v1::Problem problem;
  problem.set_code(static_cast<int>(absl::StatusCode::kInvalidArgument));
  problem.set_reason(v1::REASON_INVALID_FIELD);
  problem.set_field(field);
  problem.set_message(absl::StrCat(field, ": ", what));
  return ToStatus(problem);
}

absl::Status DeterminismMismatch(const std::string& got, const std::string& need) {
  v1::Problem problem;
  problem.set_code(static_cast<int>(absl::StatusCode::kFailedPrecondition));
  problem.set_reason(v1::REASON_DETERMINISM_MISMATCH);
  problem.set_field("determinism_digest");
  problem.set_message(absl::StrCat("determinism digest: got ", got,
                                   " after the connection broke, need ", need, " as before"));
  return ToStatus(problem);
}

bool ExceededLimit(const absl::Status& status, const std::string& limit) {
  if (!absl::IsResourceExhausted(status)) return false;
  const std::vector<ErrorDetails::Violation> limits = Details(status).limits;
  return std::any_of(limits.begin(), limits.end(),
                     [&](const auto& exceeded) { return exceeded.field == limit; });
}

std::vector<Problem> ToProblems(const google::protobuf::RepeatedPtrField<v1::Problem>& problems) {
  std::vector<Problem> result;
  for (const v1::Problem& problem : problems) result.push_back(ToProblem(problem));
  return result;
}

ErrorDetails Details(const absl::Status& status) {
  ErrorDetails details;
  if (const auto info = DetailOf<google::rpc::ErrorInfo>(status)) {
    details.reason = std::string(absl::StripPrefix(info->reason(), kReasonPrefix));
    details.domain = info->domain();
    details.metadata = {info->metadata().begin(), info->metadata().end()};
  }
  if (const auto bad = DetailOf<google::rpc::BadRequest>(status)) {
    for (const auto& violation : bad->field_violations()) {
      details.fields.push_back({violation.field(), violation.description()});
    }
    if (!details.fields.empty()) details.field = details.fields.front().field;
  }
  if (const auto quota = DetailOf<google::rpc::QuotaFailure>(status)) {
    for (const auto& violation : quota->violations()) {
      details.limits.push_back({violation.subject(), violation.description()});
    }
  }
  if (const auto retry = DetailOf<google::rpc::RetryInfo>(status);
      retry && retry->has_retry_delay()) {
    details.retry_delay = ToDuration(retry->retry_delay());
  }
  return details;
}

absl::Duration ToDuration(const google::protobuf::Duration& duration) {
  return absl::Seconds(duration.seconds()) + absl::Nanoseconds(duration.nanos());
}

absl::Time ToTime(const google::protobuf::Timestamp& time) {
  return absl::FromUnixSeconds(time.seconds()) + absl::Nanoseconds(time.nanos());
}

google::protobuf::Duration FromDuration(absl::Duration duration) {
  const absl::Duration max = absl::Seconds(315'576'000'000);  // of google.protobuf.Duration
  duration = std::clamp(duration, -max, max);
  google::protobuf::Duration result;
  result.set_seconds(absl::IDivDuration(duration, absl::Seconds(1), &duration));
  result.set_nanos(static_cast<std::int32_t>(absl::ToInt64Nanoseconds(duration)));
  return result;
}

}  // namespace sinew::client
