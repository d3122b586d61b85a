// compute_weights.h - ComputeWeights: a rig's bytes to those of the same rig with new skins.
#pragma once

#include "core/weights/weights.h"
#include "server/calls/rig_job_call.h"
#include "sinew/v1/rig_service.pb.h"

namespace sinew::server {

class ComputeWeightsCall final : public RigJobCall<ComputeWeightsCall, v1::ComputeWeightsResponse> {
 public:
  static constexpr char kJob[] = "weights";
  using RigJobCall::RigJobCall;

  absl::Status Compute(const Task::Options& task, v1::Rig& rig,
                       v1::ComputeWeightsResponse& response) const;

 private:
  friend CallReactor;
  absl::Status OnStart() override ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  v1::ComputeWeightsRequest request_;  // constant after OnStart, like options_
  WeightOptions options_;
};

}  // namespace sinew::server
