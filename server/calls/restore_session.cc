#include "server/calls/restore_session.h"

#include <chrono>
#include <utility>

#include "core/base/status.h"
#include "server/base/status.h"
#include "server/calls/open_session.h"

namespace sinew::server {
namespace {

std::int64_t NowMs(const Runtime& runtime) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             runtime.clock.WallNow().time_since_epoch())
      .count();
}

absl::StatusOr<SessionTable::Lease> Known(const Call& call, const std::string& name) {
  Runtime& runtime = call.method().runtime;
  return runtime.sessions.Get(call.caller().tenant, name, runtime.clock.Now());
}

}  // namespace

bool MayRestore(const Call& call, const std::string& name) {
  return call.method().runtime.records != nullptr && absl::IsNotFound(Known(call, name).status());
}

absl::StatusOr<SessionRecord> FindRecord(const Call& call, const std::string& name) {
  Runtime& runtime = call.method().runtime;
  absl::StatusOr<SessionRecord> record = runtime.records->Find(call.caller().tenant, name);
  const bool over = record.ok() && record->last_ms <= NowMs(runtime);
  if (over || absl::IsNotFound(record.status())) {
    const auto unknown = Known(call, name);
    return unknown.ok() ? absl::NotFoundError("session: over") : unknown.status();
  }
  if (record.ok()) return record;
  constexpr char kWhat[] =
      "session: this server does not have it, and the records of sessions cannot be reached";
  return WithRetry(WithReason(absl::UnavailableError(kWhat), v1::REASON_NOT_HERE),
                   absl::Seconds(1));
}

absl::StatusOr<std::shared_ptr<Session>> MakeRestored(const Call& call, const std::string& name,
                                                      const SessionRecord& record) {
  Runtime& runtime = call.method().runtime;
  SINEW_ASSIGN_OR_RETURN(const ResolvedSource resolved, ResolveSource(call, record.source));
  SINEW_ASSIGN_OR_RETURN(auto session, MakeSession(call, record.source, resolved));
  session->name = name;
  session->request_id = record.request_id;
  session->shared = false;  // this server may have one of its own for the same rig and recipe
  session->last_ms = record.last_ms;
  const std::chrono::milliseconds age(record.last_ms - NowMs(runtime));
  SINEW_ASSIGN_OR_RETURN(
      const auto lease,
      runtime.sessions.Add(call.caller(), std::move(session),
                           std::chrono::milliseconds(record.ttl_ms), runtime.clock.Now(), age));
  runtime.metrics.sessions_restored.Increment();
  return lease.session;
}

absl::Status RestoreIfUnknown(const Call& call, const std::string& name) {
  if (!MayRestore(call, name)) return absl::OkStatus();
  SINEW_ASSIGN_OR_RETURN(const SessionRecord record, FindRecord(call, name));
  return MakeRestored(call, name, record).status();
}

absl::Status DeleteEverywhere(const Call& call, const std::string& name) {
  Runtime& runtime = call.method().runtime;
  const std::string& tenant = call.caller().tenant;
  if (MayRestore(call, name)) {
    SINEW_RETURN_IF_ERROR(FindRecord(call, name).status());
  } else {
    SINEW_RETURN_IF_ERROR(runtime.sessions.Delete(tenant, name));
  }
  if (runtime.records != nullptr && !runtime.records->Delete(tenant, name).ok()) {
    runtime.DeleteRecordLater(tenant, name);
  }
  return absl::OkStatus();
}

}  // namespace sinew::server
