// compute_weights.h - ComputeWeights: a stored rig in, progress and a new stored rig out.
//
// The whole job, from the rig's bytes to the new ones, runs on the thread of binds, in line with
// them; a timer sends progress.
#pragma once

#include <grpcpp/support/server_callback.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <string>

#include "core/weights/weights.h"
#include "server/calls/call.h"
#include "sinew/v1/rig_service.pb.h"

namespace sinew::server {

class ComputeWeightsCall : public grpc::ServerWriteReactor<v1::ComputeWeightsResponse>,
                           public LiveStream,
                           public std::enable_shared_from_this<ComputeWeightsCall> {
 public:
  // Takes care of itself until the call is done.
  static grpc::ServerWriteReactor<v1::ComputeWeightsResponse>* Start(
      Runtime& runtime, const RpcMethod& method, grpc::CallbackServerContext* context,
      const v1::ComputeWeightsRequest* request);

  ComputeWeightsCall(Runtime& runtime, const RpcMethod& method,
                     grpc::CallbackServerContext* context)
      : runtime_(runtime), context_(context), call_(runtime, method, context) {}

  void OnWriteDone(bool ok) override;
  void OnCancel() override;
  void OnDone() override;
  void Tick(std::chrono::steady_clock::time_point now) override;
  void Drain() override;  // it may take long: not answered to the end

 private:
  absl::Status Receive(const v1::ComputeWeightsRequest& request);
  void Run();
  absl::StatusOr<v1::ComputeWeightsResponse> Compute();
  absl::StatusOr<v1::ComputeWeightsResponse> Store(const v1::Rig& rig);
  void Look();
  void Stop(const absl::Status& status);

  // With mutex_ held.
  void WriteNext();
  void End(const absl::Status& status);
  void FinishOnce();

  Runtime& runtime_;
  grpc::CallbackServerContext* const context_;
  std::shared_ptr<ComputeWeightsCall> self_;  // until OnDone
  std::mutex mutex_;
  Call call_;
  ConcurrencyLimit::Permit permit_;
  v1::ComputeWeightsRequest request_;
  WeightOptions options_;
  std::string hex_;
  std::atomic<float> progress_{0};
  float said_ = -1;  // progress that was sent last
  Timers::Id timer_ = 0;
  v1::ComputeWeightsResponse response_, last_;
  bool computed_ = false, last_sent_ = false;  // last_ is there; is on its way
  bool writing_ = false, ended_ = false, finished_ = false;
  std::chrono::steady_clock::time_point write_start_;
  grpc::Status final_;
};

}  // namespace sinew::server
