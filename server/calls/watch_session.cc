#include "server/calls/watch_session.h"

#include "core/base/status.h"
#include "server/calls/restore_session.h"
#include "server/calls/session_proto.h"

namespace sinew::server {

absl::Status WatchSessionCall::OnStart() {
  v1::WatchSessionRequest request;
  SINEW_RETURN_IF_ERROR(ParseRequest(call_, read_, request));
  name_ = request.name();
  if (!MayRestore(call_, name_)) return Begin();
  v1::Target target;
  target.set_session(name_);
  FindSession(target, "name", &WatchSessionCall::Restored);
  return absl::OkStatus();
}

absl::Status WatchSessionCall::Restored(std::shared_ptr<Session>) {
  return Begin();
}

absl::Status WatchSessionCall::Begin() {
  SINEW_ASSIGN_OR_RETURN(const auto lease, Find());
  StartUpdates();
  Update();
  if (last_sent_) return absl::OkStatus();
  // The period alone would report the end of a short bind late.
  WhenBound(lease.session, &WatchSessionCall::UpdateLast);
  return absl::OkStatus();
}

absl::StatusOr<SessionTable::Lease> WatchSessionCall::Find() const {
  return runtime_.sessions.Get(call_.caller().tenant, name_, runtime_.clock.Now());
}

bool WatchSessionCall::HasNews() {
  const auto lease = Find();
  if (!lease.ok()) return true;
  const BoundDeformer::Snapshot now = lease->session->bound->snapshot();
  return now.state != BoundDeformer::State::kBinding || now.progress != sent_progress_;
}

absl::StatusOr<bool> WatchSessionCall::Report(v1::WatchSessionResponse& response) {
  SINEW_ASSIGN_OR_RETURN(const auto lease, Find());
  const BoundDeformer::Snapshot now = lease.session->bound->snapshot();
  sent_progress_ = now.progress;
  *response.mutable_session() = ToProto(lease, runtime_.clock);
  return now.state != BoundDeformer::State::kBinding;
}

}  // namespace sinew::server
