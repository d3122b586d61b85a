#include "client/bake/base/errors.h"

#include <absl/strings/cord.h>
#include <absl/strings/str_cat.h>

namespace sinew::bake {
namespace {

constexpr char kKind[] = "sinew.bake/kind", kRequest[] = "request", kOutput[] = "output";

absl::Status OfKind(absl::Status status, const char* kind) {
  status.SetPayload(kKind, absl::Cord(kind));
  return status;
}

bool IsOfKind(const absl::Status& status, const char* kind) {
  const auto payload = status.GetPayload(kKind);
  return payload && *payload == kind;
}

}  // namespace

absl::Status RequestError(const std::string& message) {
  return OfKind(absl::InvalidArgumentError(message), kRequest);
}

bool IsRequestError(const absl::Status& status) {
  return IsOfKind(status, kRequest);
}

absl::Status OutputError(const std::string& message, absl::StatusCode code) {
  return OfKind(absl::Status(code, message), kOutput);
}

bool IsOutputError(const absl::Status& status) {
  return IsOfKind(status, kOutput);
}

absl::Status Reworded(const absl::Status& status, const std::string& message) {
  absl::Status reworded(status.code(), message);
  status.ForEachPayload(
      [&](absl::string_view url, const absl::Cord& payload) { reworded.SetPayload(url, payload); });
  return reworded;
}

absl::Status Prefixed(const std::string& what, const absl::Status& status) {
  return Reworded(status, absl::StrCat(what, ": ", status.message()));
}

}  // namespace sinew::bake
