// fit.h - FitSkeleton between protobuf and core: template and options, the mesh of a rig without
// skins, and its new joints.
#pragma once

#include <absl/status/statusor.h>

#include "core/fit/fit_skeleton.h"
#include "core/fit/skeleton_template.h"
#include "core/mesh/mesh.h"
#include "server/base/config.h"
#include "sinew/v1/rig_service.pb.h"

namespace sinew::server {

struct FitRequest {
  fit::SkeletonTemplate skeleton;
  FitOptions options;  // without `up`, which the rig says
};

// Everything but `rig`. kInvalidArgument: no template, or a value out of range; kResourceExhausted:
// above a limit.
absl::StatusOr<FitRequest> ReadFitRequest(const v1::FitSkeletonRequest& request,
                                          const WeightsConfig& limits);

// All meshes of the rig, as one. kInvalidArgument: a mesh has a skin, or the rig muscles; otherwise
// as ReadRig.
absl::StatusOr<Mesh> ReadUnriggedMesh(const v1::Rig& rig, const RigConfig& limits);

FitUp UpOf(const v1::Rig& rig);

// Gives the rig the joints of the skeleton at their places, with the axes of the meshes; and its up
// axis, if it did not say that.
void ReplaceJoints(const fit::SkeletonTemplate& skeleton, const SkeletonFit& fitted, v1::Rig& rig);

v1::FitReport ToProto(const SkeletonFit& fitted);

}  // namespace sinew::server
