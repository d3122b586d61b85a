// rig.h - a sinew.v1.Rig to the core's rig: several meshes become one vertex numbering, one list of
// bindings.
//
// A binding is one (skin, joint) pair, the mesh's geometry_bind folded into its inverse bind matrix
// in double; pairs with equal joint and matrix are one binding. Per-vertex maps of a name are
// joined over the meshes.
#pragma once

#include <absl/status/statusor.h>

#include <memory>
#include <string_view>

#include "core/rig/rig.h"
#include "server/config.h"
#include "sinew/v1/rig.pb.h"
#include "sinew/v1/rig_service.pb.h"

namespace sinew::server {

struct ConvertedRig {
  std::shared_ptr<const Rig> rig;
  v1::RigSummary summary;  // without name, size_bytes and create_time
};

// Reads a serialised Rig. kInvalidArgument: not a Rig, an unknown field, a required feature (this
// server knows none), a value that is wrong or that this server cannot honour (muscles,
// corner_normals, a mesh without a skin); kResourceExhausted: a limit of `limits`. The message and
// the details name the field. Tangents are checked for their size and have no effect: no output of
// this server depends on them.
absl::StatusOr<ConvertedRig> ConvertRig(std::string_view bytes, const RigConfig& limits);

}  // namespace sinew::server
