#include "server/base/audit_log.h"

#include <absl/strings/str_cat.h>
#include <absl/time/clock.h>
#include <absl/time/time.h>

#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "server/base/printable.h"

namespace sinew::server {
namespace {

constexpr std::size_t kFieldBytes = 256;

std::string LineOf(Clock::WallTime time, const nlohmann::ordered_json& fields) {
  nlohmann::ordered_json line;
  line["time"] = absl::FormatTime(absl::RFC3339_full, absl::FromChrono(time), absl::UTCTimeZone());
  line.update(fields);
  return line.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace

absl::StatusOr<std::unique_ptr<AuditLog>> AuditLog::Open(const std::string& path) {
  absl::StatusOr<std::unique_ptr<LogOutput>> output = LogOutput::ToFile(path);
  if (!output.ok()) {
    return absl::InvalidArgumentError(absl::StrCat("audit-log: ", output.status().message()));
  }
  return std::unique_ptr<AuditLog>(new AuditLog(*std::move(output)));
}

void AuditLog::WriteSuppressed(Clock::WallTime time, const FailureKind& kind, std::uint64_t lines) {
  output_->log()->info(
      LineOf(time, {{"client", Shortened(kind.client, kFieldBytes)},
                    {"principal", Shortened(kind.principal, kFieldBytes)},
                    {"action", "suppressed"},
                    {"outcome", kind.code ? absl::StatusCodeToString(*kind.code) : "all"},
                    {"failed_calls", lines}}));
}

void AuditLog::Write(Clock::WallTime time, const AuditEvent& event) {
  nlohmann::ordered_json line;
  const auto text = [](std::string_view value) { return Shortened(value, kFieldBytes); };
  line["peer"] = text(event.caller.peer);
  line["tenant"] = text(event.caller.tenant);
  line["principal"] = text(event.caller.principal);
  line["action"] = text(event.action);
  line["object"] = text(event.object);
  line["outcome"] = absl::StatusCodeToString(event.outcome);
  if (!event.trace.empty()) line["trace"] = text(event.trace);
  output_->log()->info(LineOf(time, line));
}

}  // namespace sinew::server
