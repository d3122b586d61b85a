// compute_weights.h - ComputeWeights: a rig's bytes to those of the same rig with new skins.
//
// Runs on the bind thread, queued with binds. Progress is sent at most ten times a second.
#pragma once

#include <grpcpp/support/server_callback.h>

#include <atomic>
#include <string>

#include "core/weights/weights.h"
#include "server/calls/call_reactor.h"
#include "sinew/v1/rig_service.pb.h"

namespace sinew::server {

class ComputeWeightsCall final
    : public CallReactor<ComputeWeightsCall, grpc::ServerWriteReactor<v1::ComputeWeightsResponse>> {
 public:
  static grpc::ServerWriteReactor<v1::ComputeWeightsResponse>* Start(
      Runtime& runtime, const RpcMethod& method, grpc::CallbackServerContext* context,
      const v1::ComputeWeightsRequest* request);

  ComputeWeightsCall(Runtime& runtime, const RpcMethod& method,
                     grpc::CallbackServerContext* context, const v1::ComputeWeightsRequest* request)
      : CallReactor(runtime, method, context), request_(*request) {}

  void OnWriteDone(bool ok) override;

 private:
  friend CallReactor;
  absl::Status OnStart() override ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void OnDrain() override ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);  // it may take long: not finished
  void OnEnd() override ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Run();
  absl::StatusOr<v1::ComputeWeightsResponse> Compute();
  absl::StatusOr<v1::ComputeWeightsResponse> Store(const v1::Rig& rig);
  void SendUpdate();
  void WriteNext() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const v1::ComputeWeightsRequest request_;
  WeightOptions options_;  // constant after OnStart, like hex_
  std::string hex_;
  std::atomic<float> progress_{0};
  float sent_progress_ ABSL_GUARDED_BY(mutex_) = -1;
  Timers::Id timer_ ABSL_GUARDED_BY(mutex_) = 0;
  v1::ComputeWeightsResponse response_ ABSL_GUARDED_BY(mutex_);  // being written
  v1::ComputeWeightsResponse last_ ABSL_GUARDED_BY(mutex_);      // once computed_
  bool computed_ ABSL_GUARDED_BY(mutex_) = false;
  bool last_sent_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace sinew::server
