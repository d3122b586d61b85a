#include "server/calls/fit_skeleton.h"

#include "core/base/status.h"
#include "core/fit/fit_skeleton.h"

namespace sinew::server {

absl::Status FitSkeletonCall::OnStart() {
  v1::FitSkeletonRequest request;
  SINEW_RETURN_IF_ERROR(ParseRequest(call_, read_, request));
  SINEW_ASSIGN_OR_RETURN(request_, ReadFitRequest(request, runtime_.config.weights));
  return StartJob(request.rig());
}

absl::Status FitSkeletonCall::Compute(const Task::Options& task, v1::Rig& rig,
                                      v1::FitSkeletonResponse& response) const {
  SINEW_ASSIGN_OR_RETURN(const Mesh mesh, ReadUnriggedMesh(rig, runtime_.config.rigs));
  FitOptions options = request_.options;
  options.up = UpOf(rig);
  Task job(task);
  SINEW_ASSIGN_OR_RETURN(const SkeletonFit fitted,
                         FitSkeleton(mesh, request_.skeleton, options, job));
  ReplaceJoints(request_.skeleton, fitted, rig);
  *response.mutable_report() = ToProto(fitted);
  return absl::OkStatus();
}

}  // namespace sinew::server
