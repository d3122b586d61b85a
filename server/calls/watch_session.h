// watch_session.h - WatchSession: a session's state and progress until its bind is over.
#pragma once

#include <grpcpp/support/server_callback.h>

#include <string>

#include "server/calls/call_reactor.h"
#include "sinew/v1/session_service.pb.h"

namespace sinew::server {

class WatchSessionCall final
    : public CallReactor<WatchSessionCall, grpc::ServerWriteReactor<v1::WatchSessionResponse>> {
 public:
  static grpc::ServerWriteReactor<v1::WatchSessionResponse>* Start(
      Runtime& runtime, const RpcMethod& method, grpc::CallbackServerContext* context,
      const v1::WatchSessionRequest* request);

  WatchSessionCall(Runtime& runtime, const RpcMethod& method, grpc::CallbackServerContext* context,
                   const v1::WatchSessionRequest* request)
      : CallReactor(runtime, method, context), name_(request->name()) {}

  void OnWriteDone(bool ok) override;

 private:
  friend CallReactor;
  absl::Status OnStart() override ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void OnEnd() override ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void OnBound() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void SendUpdate() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const std::string name_;
  bool bound_ ABSL_GUARDED_BY(mutex_) = false;      // the bind is over
  bool last_sent_ ABSL_GUARDED_BY(mutex_) = false;  // READY or FAILED has been written
  double sent_progress_ ABSL_GUARDED_BY(mutex_) = -1;
  Timers::Id timer_ ABSL_GUARDED_BY(mutex_) = 0;
  v1::WatchSessionResponse response_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace sinew::server
