// error_details.h - details of google.rpc that an absl::Status carries as payloads, each under its
// type URL, as in google.rpc.Status.details. gRPC sends them in `grpc-status-details-bin`. Pure
// functions; a status is changed by one thread at a time.
// Source: google/rpc/error_details.proto, https://google.aip.dev/193.
#pragma once

#include <absl/status/status.h>
#include <absl/strings/cord.h>
#include <absl/strings/str_cat.h>

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "google/rpc/error_details.pb.h"

namespace sinew {

inline constexpr char kErrorDomain[] = "sinew";     // of every ErrorInfo
inline constexpr char kReasonPrefix[] = "REASON_";  // of the names in v1::Reason, not in ErrorInfo

// "type.googleapis.com/google.rpc.ErrorInfo", and so on.
template <class Detail>
std::string DetailUrl() {
  return absl::StrCat("type.googleapis.com/", Detail::descriptor()->full_name());
}

// Replaces one of the same type. An OK status cannot carry one: nothing happens.
template <class Detail>
void AttachDetail(absl::Status& status, const Detail& detail) {
  status.SetPayload(DetailUrl<Detail>(), absl::Cord(detail.SerializeAsString()));
}

// Nothing if the status has none, or not a valid one.
template <class Detail>
std::optional<Detail> DetailOf(const absl::Status& status) {
  const auto payload = status.GetPayload(DetailUrl<Detail>());
  Detail detail;
  if (!payload || !detail.ParseFromString(std::string(*payload))) return std::nullopt;
  return detail;
}

// ErrorInfo: why, for programs. reason: a name of v1::Reason without kReasonPrefix, such as
// "NOT_READY".
inline void AttachReason(absl::Status& status, std::string reason) {
  google::rpc::ErrorInfo info;
  info.set_reason(std::move(reason));
  info.set_domain(kErrorDomain);
  AttachDetail(status, info);
}

// BadRequest about one field. field: its path in the request, such as "options.resolution";
// description: what was found and what is allowed.
inline void AttachField(absl::Status& status, std::string field, std::string description) {
  google::rpc::BadRequest request;
  auto& violation = *request.add_field_violations();
  violation.set_field(std::move(field));
  violation.set_description(std::move(description));
  AttachDetail(status, request);
}

}  // namespace sinew
