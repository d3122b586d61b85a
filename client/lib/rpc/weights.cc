#include "sinew/weights.h"

#include "client/lib/codec/message_codec.h"
#include "client/lib/codec/status_codec.h"
#include "client/lib/codec/utf8.h"
#include "client/lib/rpc/connection.h"
#include "core/base/status.h"
#include "sinew/client.h"

namespace sinew::client {
namespace {

absl::StatusOr<v1::ComputeWeightsRequest> FromRequest(const WeightsRequest& from) {
  v1::ComputeWeightsRequest to;
  SINEW_RETURN_IF_ERROR(CheckUtf8("rig", from.rig));
  to.set_rig(from.rig);
  to.set_method(static_cast<v1::WeightMethod>(from.method));
  if (from.max_influences) to.set_max_influences(*from.max_influences);
  if (from.prune) to.set_prune(*from.prune);
  if (from.smooth) to.set_smooth(*from.smooth);
  if (from.inner) to.mutable_capsule()->set_inner(*from.inner);
  if (from.outer) to.mutable_capsule()->set_outer(*from.outer);
  if (from.falloff) to.mutable_capsule()->set_falloff(*from.falloff);
  if (from.heat) to.mutable_heat()->set_strength(*from.heat);
  if (from.facing) to.mutable_heat()->set_facing(*from.facing);
  if (from.resolution) to.mutable_geodesic()->set_resolution(*from.resolution);
  if (from.smoothness) to.mutable_geodesic()->set_smoothness(*from.smoothness);
  for (const std::string& joint : from.joints) {
    SINEW_RETURN_IF_ERROR(CheckUtf8("joints", joint));
    to.add_joints(joint);
  }
  return to;
}

WeightsReport ToReport(const v1::WeightsReport& report) {
  return {.unseen_count = report.unseen_count(),
          .unseen_vertices = {report.unseen_vertices().begin(), report.unseen_vertices().end()},
          .idle_joints = {report.idle_joints().begin(), report.idle_joints().end()},
          .warnings = ToProblems(report.warnings())};
}

}  // namespace

absl::StatusOr<WeightedRig> Client::ComputeWeights(const WeightsRequest& request,
                                                   const WeightsProgress& progress,
                                                   const CallOptions& call) const {
  SINEW_ASSIGN_OR_RETURN(const v1::ComputeWeightsRequest message, FromRequest(request));
  v1::ComputeWeightsResponse last;
  // Equal requests give equal rigs, so a broken call may be repeated.
  const auto attempt = [&](grpc::ClientContext& context) -> absl::Status {
    last.Clear();
    const auto reader = connection_->rigs().ComputeWeights(&context, message);
    while (reader->Read(&last)) {
      if (progress) progress(last.progress());
    }
    return FromGrpc(reader->Finish());
  };
  SINEW_RETURN_IF_ERROR(connection_->Run(call, RouteOfRig(request.rig), attempt));
  if (!last.has_rig()) {
    return absl::InternalError("weights: the call ended without a rig");
  }
  return WeightedRig{.rig = ToRigSummary(last.rig()), .report = ToReport(last.report())};
}

}  // namespace sinew::client
