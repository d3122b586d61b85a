// deform.h - Deform: one pose, without state, and one frame in the reply.
#pragma once

#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/server_callback.h>

#include <memory>

#include "server/calls/call_reactor.h"
#include "server/frames/evaluator.h"
#include "sinew/v1/deform_service.pb.h"

namespace sinew::server {

class DeformCall final : public CallReactor<DeformCall, grpc::ServerUnaryReactor> {
 public:
  DeformCall(const RpcMethod& method, grpc::CallbackServerContext* context,
             const grpc::ByteBuffer* request, grpc::ByteBuffer* response)
      : CallReactor(method, context), bytes_(request), response_(response) {}

 private:
  friend CallReactor;
  absl::Status OnStart() override ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void OnStarted() override;
  void Found(absl::StatusOr<std::shared_ptr<Session>> session);
  absl::Status Prepare(std::shared_ptr<Session> session) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status CheckSize() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void OnBound() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { EvaluatePose(true); }
  // Evaluates and ends the call; unlocks the mutex during the evaluation.
  void EvaluatePose(bool parallel) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Answer(OutgoingFrame frame) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const grpc::ByteBuffer* const bytes_;
  grpc::ByteBuffer* const response_;
  v1::DeformRequest request_;  // constant after OnStart
  Quota::Permit reservation_ ABSL_GUARDED_BY(mutex_);
  std::shared_ptr<Session> session_ ABSL_GUARDED_BY(mutex_);
  std::unique_ptr<Evaluator> evaluator_;  // set once, then used by one evaluation
};

}  // namespace sinew::server
