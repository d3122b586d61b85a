// rig_codec.h - RigData to and from the message sinew.v1.Rig; EncodeRig and DecodeRig are in
// sinew/client.h.
#pragma once

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include "sinew/rig_data.h"
#include "sinew/v1/rig.pb.h"

namespace sinew::client {

// Checks what the wire needs: array sizes that agree, parents before children, indices that fit.
//   kInvalidArgument: with the path of the field, e.g. rig.meshes[0].positions.
absl::Status CheckShapes(const RigData& rig);

// `rig` must have passed CheckShapes. Index arrays take the smallest type the message allows.
v1::Rig ToMessage(const RigData& rig);

// kInvalidArgument: an array whose type, size and bytes disagree. kUnimplemented: fields this
// version does not know.
absl::StatusOr<RigData> FromMessage(const v1::Rig& rig);

}  // namespace sinew::client
