// fit_skeleton.h - FitSkeleton: a rig's bytes to those of the same rig with joints in its meshes.
#pragma once

#include "server/calls/rig_job_call.h"
#include "server/convert/fit.h"
#include "sinew/v1/rig_service.pb.h"

namespace sinew::server {

class FitSkeletonCall final : public RigJobCall<FitSkeletonCall, v1::FitSkeletonResponse> {
 public:
  static constexpr char kJob[] = "fit";
  using RigJobCall::RigJobCall;

  absl::Status Compute(const Task::Options& task, v1::Rig& rig,
                       v1::FitSkeletonResponse& response) const;

 private:
  friend CallReactor;
  absl::Status OnStart() override ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  FitRequest request_;  // constant after OnStart
};

}  // namespace sinew::server
