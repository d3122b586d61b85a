// compute_weights.h - ComputeWeights: a rig's bytes to those of the same rig with new skins.
//
// Computed one at a time, on a thread of its own.
#pragma once

#include <atomic>
#include <string>

#include "core/weights/weights.h"
#include "server/calls/update_call.h"
#include "sinew/v1/rig_service.pb.h"

namespace sinew::server {

class ComputeWeightsCall final : public UpdateCall<ComputeWeightsCall, v1::ComputeWeightsResponse> {
 public:
  using UpdateCall::UpdateCall;

 private:
  friend CallReactor;
  absl::Status OnStart() override ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void OnDrain() override ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);  // it may take long: not finished
  bool HasNews() override ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::StatusOr<bool> Report(v1::ComputeWeightsResponse& response) override
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Run();
  absl::StatusOr<v1::ComputeWeightsResponse> Compute();
  absl::StatusOr<v1::ComputeWeightsResponse> Store(const v1::Rig& rig);

  v1::ComputeWeightsRequest request_;  // constant after OnStart, like options_ and hex_
  WeightOptions options_;
  std::string hex_;
  std::atomic<float> progress_{0};
  float sent_progress_ ABSL_GUARDED_BY(mutex_) = -1;
  v1::ComputeWeightsResponse last_ ABSL_GUARDED_BY(mutex_);  // once over_
};

}  // namespace sinew::server
