#include "sinew/fit.h"

#include <algorithm>

#include "client/lib/codec/message_codec.h"
#include "client/lib/codec/status_codec.h"
#include "client/lib/codec/utf8.h"
#include "client/lib/rpc/connection.h"
#include "core/base/status.h"
#include "sinew/client.h"

namespace sinew::client {
namespace {

absl::StatusOr<v1::FitSkeletonRequest> FromRequest(const FitRequest& from) {
  v1::FitSkeletonRequest to;
  SINEW_RETURN_IF_ERROR(CheckUtf8("rig", from.rig));
  SINEW_RETURN_IF_ERROR(CheckUtf8("built_in", from.built_in));
  to.set_rig(from.rig);
  if (!from.built_in.empty() && !from.skeleton.empty()) {
    return absl::InvalidArgumentError("skeleton: got joints beside built_in, need one of the two");
  }
  if (!from.built_in.empty()) to.set_built_in(from.built_in);
  for (const TemplateJoint& joint : from.skeleton) {
    SINEW_RETURN_IF_ERROR(CheckUtf8("skeleton.joints.name", joint.name));
    v1::TemplateJoint& message = *to.mutable_skeleton()->add_joints();
    message.set_name(joint.name);
    if (joint.parent) message.set_parent(*joint.parent);
    message.set_x(joint.place[0]);
    message.set_y(joint.place[1]);
    message.set_z(joint.place[2]);
    message.set_wide(joint.wide);
    message.set_foot(joint.foot);
    if (joint.partner) message.set_partner(*joint.partner);
  }
  if (from.resolution) to.set_resolution(*from.resolution);
  if (from.scale) to.set_scale(*from.scale);
  for (const JointHint& hint : from.hints) {
    SINEW_RETURN_IF_ERROR(CheckUtf8("hints.joint", hint.joint));
    v1::JointHint& message = *to.add_hints();
    message.set_joint(hint.joint);
    message.set_x(hint.place[0]);
    message.set_y(hint.place[1]);
    message.set_z(hint.place[2]);
  }
  to.set_faces_forward(from.faces_forward);
  return to;
}

FitFacing ToFacing(const v1::FitFacing& from) {
  FitFacing to;
  to.residual = from.residual();
  std::copy_n(from.up().begin(), std::min(3, from.up_size()), to.up.begin());
  std::copy_n(from.forward().begin(), std::min(3, from.forward_size()), to.forward.begin());
  return to;
}

}  // namespace

absl::StatusOr<FittedRig> Client::FitSkeleton(const FitRequest& request,
                                              const WeightsProgress& progress,
                                              const CallOptions& call) const {
  SINEW_ASSIGN_OR_RETURN(const v1::FitSkeletonRequest message, FromRequest(request));
  v1::FitSkeletonResponse last;
  // Equal requests give equal rigs, so a broken call may be repeated.
  const auto attempt = [&](grpc::ClientContext& context) -> absl::Status {
    last.Clear();
    const auto reader = connection_->rigs().FitSkeleton(&context, message);
    while (reader->Read(&last)) {
      if (progress) progress(last.progress());
    }
    return FromGrpc(reader->Finish());
  };
  SINEW_RETURN_IF_ERROR(connection_->Run(call, RouteOfRig(request.rig), attempt));
  if (!last.has_rig()) return absl::InternalError("fit: the call ended without a rig");
  FittedRig fitted{.rig = ToRigSummary(last.rig()), .report = {}};
  fitted.report.facing = ToFacing(last.report().facing());
  if (last.report().has_other()) fitted.report.other = ToFacing(last.report().other());
  fitted.report.warnings = ToProblems(last.report().warnings());
  return fitted;
}

}  // namespace sinew::client
