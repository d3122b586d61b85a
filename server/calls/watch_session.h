// watch_session.h - WatchSession: a session's state and progress until its bind is over.
#pragma once

#include <memory>
#include <string>

#include "server/calls/update_call.h"
#include "sinew/v1/session_service.pb.h"

namespace sinew::server {

class WatchSessionCall final : public UpdateCall<WatchSessionCall, v1::WatchSessionResponse> {
 public:
  using UpdateCall::UpdateCall;

 private:
  friend CallReactor;
  friend CallWork<WatchSessionCall>;
  absl::Status OnStart() override ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool HasNews() override ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::StatusOr<bool> Report(v1::WatchSessionResponse& response) override
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  absl::StatusOr<SessionTable::Lease> Find() const;
  absl::Status Begin() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status Restored(std::shared_ptr<Session> session) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  std::string name_;  // constant after OnStart
  double sent_progress_ ABSL_GUARDED_BY(mutex_) = -1;
};

}  // namespace sinew::server
