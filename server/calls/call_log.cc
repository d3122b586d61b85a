#include "server/calls/call_log.h"

#include <absl/strings/str_cat.h>

#include <string>

#include "core/base/status.h"
#include "server/base/printable.h"
#include "server/base/status.h"

namespace sinew::server {
namespace {

constexpr std::size_t kMessageBytes = 512, kFieldBytes = 128;

spdlog::level::level_enum LevelOf(absl::StatusCode code) {
  switch (code) {
    case absl::StatusCode::kOk:
    case absl::StatusCode::kCancelled:
      return spdlog::level::debug;
    case absl::StatusCode::kInternal:
    case absl::StatusCode::kUnknown:
      return spdlog::level::err;
    default:
      return spdlog::level::info;
  }
}

std::string Field(const char* name, std::string_view value) {
  if (value.empty()) return {};
  return absl::StrCat(" ", name, "=", Shortened(value, kFieldBytes));
}

bool IsDenied(absl::StatusCode code) {
  return code == absl::StatusCode::kPermissionDenied || code == absl::StatusCode::kUnauthenticated;
}

void Audit(Runtime& runtime, const FinishedCall& call, absl::StatusCode outcome) {
  if (runtime.audit == nullptr) return;
  runtime.audit->Write(runtime.clock.WallNow(), {.caller = call.caller,
                                                 .action = call.method,
                                                 .object = call.object,
                                                 .outcome = outcome,
                                                 .trace = call.trace});
}

}  // namespace

void AuditChange(Runtime& runtime, const FinishedCall& call) {
  Audit(runtime, call, absl::StatusCode::kOk);
}

void LogCall(Runtime& runtime, const FinishedCall& call, const absl::Status& status) {
  if (!status.ok()) {
    runtime.metrics.CountFailure(ReasonOf(status), LimitOf(status));
  }
  const auto level = LevelOf(status.code());
  const Caller& caller = call.caller;
  const bool admitted =
      level == spdlog::level::debug ||
      runtime.failures.Admit({.client = caller.client(), .principal = {}, .code = status.code()},
                             runtime.clock.Now());
  // Whoever floods the server with calls that fail must not fill the disk.
  if (runtime.audit != nullptr &&
      (status.ok() ? call.audited
                   : (call.audited || IsDenied(status.code())) &&
                         runtime.denials.Admit({.client = caller.client(),
                                                .principal = caller.principal,
                                                .code = status.code()},
                                               runtime.clock.Now()))) {
    Audit(runtime, call, status.code());
  }
  if (admitted && runtime.log->should_log(level)) {
    runtime.log->log(
        level, "{} {} {:.6f} s{}{}{}{}{} {}", call.method, absl::StatusCodeToString(status.code()),
        call.seconds, Field("peer", caller.peer), Field("tenant", caller.tenant),
        Field("principal", caller.principal), Field("object", call.object),
        Field("trace", call.trace), Shortened(StdView(status.message()), kMessageBytes));
  }
}

}  // namespace sinew::server
