// rig.h - a sinew.v1.Rig to the core's rig: several meshes become one vertex numbering, one list of
// bindings.
//
// A binding is one (skin, joint) pair, the mesh's geometry_bind folded into its inverse bind matrix
// in double; pairs with equal joint and matrix are one binding. Per-vertex maps of a name are
// joined over the meshes.
#pragma once

#include <absl/status/statusor.h>

#include <memory>
#include <string>
#include <string_view>

#include "core/rig/rig.h"
#include "server/base/config.h"
#include "sinew/v1/rig.pb.h"
#include "sinew/v1/rig_service.pb.h"

namespace sinew::server {

struct ConvertedRig {
  std::shared_ptr<const Rig> rig;
  v1::RigSummary summary;  // without name, size_bytes and create_time
};

// kInvalidArgument: not a serialised Rig, or an unknown field in it; kResourceExhausted: it has too
// many fields, found before it is parsed.
absl::StatusOr<v1::Rig> ParseRig(std::string_view bytes, const RigConfig& limits);

// What ConvertRig allocates at most for these bytes, besides AddedMapBytes. kResourceExhausted: too
// many fields.
absl::StatusOr<std::uint64_t> ParsingBytes(std::string_view bytes, const RigConfig& limits);
// Bytes of the values that vertex maps get where a mesh has none.
std::uint64_t AddedMapBytes(const v1::Rig& rig);

// What the core makes a rig from; `without_skin` says how many meshes have none: the first joint
// holds those. Errors as ConvertRig.
absl::StatusOr<RigSource> ReadRig(const v1::Rig& rig, const RigConfig& limits, int& without_skin);

// Reads a serialised Rig. kInvalidArgument: not a Rig, an unknown field, a required feature (this
// server knows none), a value that is wrong or that this server cannot honour (corner_normals);
// kResourceExhausted: a limit of `limits`. The message and the details name the field. Tangents are
// checked for their size. A rig with meshes without a skin is valid, but fit for ComputeWeights
// alone: the summary says so.
absl::StatusOr<ConvertedRig> ConvertRig(std::string_view bytes, const RigConfig& limits);
absl::StatusOr<ConvertedRig> ConvertRig(const v1::Rig& rig, const RigConfig& limits);

// Equal rigs give equal bytes.
std::string SerialiseRig(const v1::Rig& rig);

}  // namespace sinew::server
