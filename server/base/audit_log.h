// audit_log.h - who changed what, one JSON line an action.
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <memory>
#include <string_view>

#include "server/base/caller.h"
#include "server/base/clock.h"
#include "server/base/log.h"
#include "server/base/log_limit.h"

namespace sinew::server {

struct AuditEvent {
  const Caller& caller;
  std::string_view action;  // "RigService/DeleteRig"
  std::string_view object;  // "rigs/sha256-...", "sessions/...", or empty
  absl::StatusCode outcome;
  std::string_view trace;  // trace id, or empty
};

// Thread-safe. Lines that cannot be written in time are dropped and counted, like those of the log.
class AuditLog {
 public:
  // path: as LogOutput::ToFile. kInvalidArgument: cannot be opened.
  static absl::StatusOr<std::unique_ptr<AuditLog>> Open(const std::string& path);

  void Write(Clock::WallTime time, const AuditEvent& event);
  // Says that `lines` more calls of this kind failed.
  void WriteSuppressed(Clock::WallTime time, const FailureKind& kind, std::uint64_t lines);

  std::uint64_t dropped() const { return output_->dropped(); }
  absl::Status Reopen() { return output_->Reopen(); }

 private:
  explicit AuditLog(std::unique_ptr<LogOutput> output) : output_(std::move(output)) {}
  std::unique_ptr<LogOutput> output_;
};

}  // namespace sinew::server
