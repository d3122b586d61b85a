#include "server/base/status.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>
#include <google/protobuf/util/time_util.h>
#include <utf8.h>

#include <cmath>
#include <optional>

#include "client/lib/base/error_details.h"
#include "client/lib/base/field_path.h"
#include "core/base/status.h"
#include "google/rpc/status.pb.h"
#include "server/base/printable.h"

namespace sinew::server {
namespace {

// gRPC replaces an error whose trailers exceed its default limit of 8 KiB.
constexpr std::size_t kMessageBytes = 1024, kDetailBytes = 1400;

// What quotes a client's text may have cut a character, and clients cannot read a message whose
// strings are not UTF-8.
std::string Utf8(std::string_view text) {
  return utf8::replace_invalid(text);
}

}  // namespace

absl::Status InvalidField(std::string_view path, std::string_view what) {
  absl::Status status =
      absl::InvalidArgumentError(absl::StrCat(AbslView(path), ": ", AbslView(what)));
  AttachField(status, Utf8(path), Utf8(what));
  return WithReason(std::move(status), v1::REASON_INVALID_FIELD);
}

absl::Status LimitExceeded(std::string_view path, std::uint64_t got, std::uint64_t limit,
                           std::string_view unit, std::string_view limit_name) {
  return LimitExceeded(path, absl::StrCat("got ", got, " ", AbslView(unit), ", limit ", limit),
                       limit_name);
}

absl::Status TimeExceeded(std::string_view path, double got_seconds, double limit_seconds,
                          std::string_view limit_name) {
  return LimitExceeded(
      path, absl::StrFormat("got %.0f seconds, limit %.10g", std::ceil(got_seconds), limit_seconds),
      limit_name);
}

absl::Status LimitExceeded(std::string_view path, std::string_view what,
                           std::string_view limit_name) {
  absl::Status status = absl::ResourceExhaustedError(
      absl::StrCat(AbslView(path), ": ", AbslView(what), " (", AbslView(limit_name), ")"));
  google::rpc::QuotaFailure failure;
  auto& violation = *failure.add_violations();
  violation.set_subject(std::string(limit_name));
  violation.set_description(Utf8(what));
  AttachDetail(status, failure);
  AttachField(status, Utf8(path), Utf8(what));
  return WithReason(std::move(status), v1::REASON_LIMIT);
}

absl::Status CheckLimit(std::string_view path, std::uint64_t got, std::uint64_t limit,
                        std::string_view unit, std::string_view limit_name) {
  return got <= limit ? absl::OkStatus() : LimitExceeded(path, got, limit, unit, limit_name);
}

std::string NameOf(v1::Reason reason) {
  return v1::Reason_Name(reason).substr(sizeof(kReasonPrefix) - 1);
}

absl::Status WithReason(absl::Status status, v1::Reason reason) {
  AttachReason(status, NameOf(reason));
  return status;
}

absl::Status WithRetry(absl::Status status, absl::Duration delay) {
  google::rpc::RetryInfo info;
  *info.mutable_retry_delay() =
      google::protobuf::util::TimeUtil::NanosecondsToDuration(absl::ToInt64Nanoseconds(delay));
  AttachDetail(status, info);
  return status;
}

absl::Status WithPath(const absl::Status& status, std::string_view path) {
  if (status.ok()) return status;
  absl::Status moved(status.code(), absl::StrCat(AbslView(path), ".", status.message()));
  status.ForEachPayload(
      [&](absl::string_view url, const absl::Cord& payload) { moved.SetPayload(url, payload); });
  if (auto request = DetailOf<google::rpc::BadRequest>(status)) {
    for (auto& violation : *request->mutable_field_violations()) {
      violation.set_field(absl::StrCat(AbslView(path), ".", violation.field()));
    }
    AttachDetail(moved, *request);
  }
  return moved;
}

absl::Status Draining() {
  return WithRetry(
      WithReason(absl::UnavailableError("server: draining, try another"), v1::REASON_DRAINING),
      absl::Seconds(1));
}

v1::Reason ReasonOf(const absl::Status& status) {
  const auto info = DetailOf<google::rpc::ErrorInfo>(status);
  v1::Reason reason = v1::REASON_UNSPECIFIED;
  if (info) v1::Reason_Parse(kReasonPrefix + info->reason(), &reason);
  return reason;
}

std::string LimitOf(const absl::Status& status) {
  const auto failure = DetailOf<google::rpc::QuotaFailure>(status);
  return failure && failure->violations_size() > 0 ? failure->violations(0).subject()
                                                   : std::string();
}

std::string FieldOf(const absl::Status& status) {
  const auto request = DetailOf<google::rpc::BadRequest>(status);
  return request && request->field_violations_size() > 0 ? request->field_violations(0).field()
                                                         : std::string();
}

absl::Status WithDetails(absl::Status status) {
  if (status.code() != absl::StatusCode::kInvalidArgument &&
      status.code() != absl::StatusCode::kOutOfRange) {
    return status;
  }
  if (!FieldOf(status).empty()) return status;
  const std::string message(status.message());
  const std::string_view path = LeadingPath(message);
  if (!path.empty()) {
    AttachField(status, Utf8(path), Utf8(std::string_view(message).substr(path.size() + 2)));
  }
  if (ReasonOf(status) == v1::REASON_UNSPECIFIED) {
    status = WithReason(std::move(status), v1::REASON_INVALID_FIELD);
  }
  return status;
}

grpc::Status ToGrpc(const absl::Status& status) {
  if (status.ok()) return grpc::Status::OK;
  const std::string message = Shortened(Utf8(StdView(status.message())), kMessageBytes);
  google::rpc::Status details;
  details.set_code(static_cast<int>(status.code()));
  details.set_message(message);
  status.ForEachPayload([&](absl::string_view url, const absl::Cord& payload) {
    if (payload.size() > kDetailBytes) return;
    auto& any = *details.add_details();
    any.set_type_url(std::string(url));
    any.set_value(std::string(payload));
  });
  return {static_cast<grpc::StatusCode>(status.code()), message,
          details.details_size() > 0 ? details.SerializeAsString() : std::string()};
}

v1::Problem ToProblem(const absl::Status& status) {
  v1::Problem problem;
  problem.set_code(static_cast<int>(status.code()));
  problem.set_reason(ReasonOf(status));
  problem.set_message(Shortened(Printable(Utf8(StdView(status.message()))), kMessageBytes));
  problem.set_field(FieldOf(status));
  problem.set_severity(v1::SEVERITY_ERROR);
  return problem;
}

v1::Problem ToProto(const Problem& problem, std::string_view path) {
  v1::Problem proto;
  std::string field = problem.field;
  if (!path.empty()) field = absl::StrCat(AbslView(path), field.empty() ? "" : ".", field);
  const std::string message =
      field.empty() ? problem.message : absl::StrCat(field, ": ", problem.message);
  proto.set_message(Shortened(Printable(Utf8(message)), kMessageBytes));
  proto.set_field(Shortened(Printable(Utf8(field)), kMessageBytes));
  proto.set_severity(problem.severity == Severity::kInfo      ? v1::SEVERITY_INFO
                     : problem.severity == Severity::kWarning ? v1::SEVERITY_WARNING
                                                              : v1::SEVERITY_ERROR);
  return proto;
}

}  // namespace sinew::server
