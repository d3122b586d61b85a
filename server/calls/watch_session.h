// watch_session.h - WatchSession: the session whenever its state or progress changes, at most ten
// times a second.
#pragma once

#include <grpcpp/support/server_callback.h>

#include <memory>
#include <mutex>
#include <string>

#include "server/calls/call.h"
#include "sinew/v1/session_service.pb.h"

namespace sinew::server {

class WatchSessionCall : public grpc::ServerWriteReactor<v1::WatchSessionResponse>,
                         public std::enable_shared_from_this<WatchSessionCall> {
 public:
  // Takes care of itself until the call is done.
  static grpc::ServerWriteReactor<v1::WatchSessionResponse>* Start(
      Runtime& runtime, const RpcMethod& method, grpc::CallbackServerContext* context,
      const v1::WatchSessionRequest* request);

  WatchSessionCall(Runtime& runtime, const RpcMethod& method, grpc::CallbackServerContext* context,
                   std::string name)
      : runtime_(runtime), name_(std::move(name)), call_(runtime, method, context) {}

  void OnWriteDone(bool ok) override;
  void OnCancel() override;
  void OnDone() override;

 private:
  void Look();
  void LookWhenBound();
  void End(const absl::Status& status);

  Runtime& runtime_;
  const std::string name_;
  std::shared_ptr<WatchSessionCall> self_;  // until OnDone
  std::mutex mutex_;
  Call call_;
  ConcurrencyLimit::Permit permit_;
  bool ended_ = false, writing_ = false;
  bool last_said_ = false;  // READY or FAILED is on its way
  double progress_ = -1;    // said last
  bool bound_ = false;      // the bind is over
  std::weak_ptr<Session> session_;
  std::uint64_t bind_wait_ = 0;  // id of what waits for the bind
  Timers::Id timer_ = 0;
  v1::WatchSessionResponse response_;
};

}  // namespace sinew::server
