#include "server/calls/compute_weights.h"

#include "core/base/status.h"
#include "server/convert/weights.h"

namespace sinew::server {

absl::Status ComputeWeightsCall::OnStart() {
  SINEW_RETURN_IF_ERROR(ParseRequest(call_, read_, request_));
  SINEW_ASSIGN_OR_RETURN(
      options_, ReadWeightOptions(request_, runtime_.config.weights, runtime_.config.rigs));
  return StartJob(request_.rig());
}

absl::Status ComputeWeightsCall::Compute(const Task::Options& task, v1::Rig& rig,
                                         v1::ComputeWeightsResponse& response) const {
  SINEW_ASSIGN_OR_RETURN(const RigWeightsInput input,
                         ReadWeightsInput(rig, request_, runtime_.config.rigs));
  SINEW_ASSIGN_OR_RETURN(const RigWeights weights, ComputeRigWeights(input, options_, task));
  *response.mutable_report() = ToProto(weights.report);
  return ReplaceSkins(input, weights, rig);
}

}  // namespace sinew::server
