// deform.h - Deform: one pose, one frame, no state. Waits for a bind without holding a thread.
#pragma once

#include <grpcpp/support/server_callback.h>

#include <memory>
#include <mutex>

#include "server/calls/call.h"
#include "server/frames/evaluator.h"
#include "sinew/v1/deform_service.pb.h"

namespace sinew::server {

class DeformCall : public grpc::ServerUnaryReactor,
                   public std::enable_shared_from_this<DeformCall> {
 public:
  // Takes care of itself until the call is done.
  static grpc::ServerUnaryReactor* Start(Runtime& runtime, const RpcMethod& method,
                                         grpc::CallbackServerContext* context,
                                         const v1::DeformRequest* request,
                                         v1::DeformResponse* response);

  DeformCall(Runtime& runtime, const RpcMethod& method, grpc::CallbackServerContext* context,
             const v1::DeformRequest* request, v1::DeformResponse* response)
      : runtime_(runtime),
        request_(request),
        response_(response),
        call_(runtime, method, context) {}

  void OnCancel() override;
  void OnDone() override;

 private:
  absl::Status Check() const;
  absl::Status Prepare(std::shared_ptr<Session> session);
  absl::Status CheckSize() const;
  void RunWhenBound();
  void Run(bool parallel);
  absl::Status Evaluate(bool parallel);
  void End(const absl::Status& status);
  void EndLocked(const absl::Status& status);

  Runtime& runtime_;
  const v1::DeformRequest* const request_;
  v1::DeformResponse* const response_;
  std::shared_ptr<DeformCall> self_;  // until OnDone
  std::mutex mutex_;
  Call call_;
  bool ended_ = false, evaluating_ = false;
  ConcurrencyLimit::Permit permit_;
  FramePool::Reservation reservation_;
  std::unique_ptr<Evaluator> evaluator_;
  std::shared_ptr<Session> session_;
  std::uint64_t bind_wait_ = 0;
};

}  // namespace sinew::server
