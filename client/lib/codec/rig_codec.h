// rig_codec.h - converts between RigData and the message sinew.v1.Rig. EncodeRig and DecodeRig are
// in sinew/client.h.
#pragma once

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include "sinew/rig_data.h"
#include "sinew/v1/rig.pb.h"

namespace sinew::client {

// Checks what the message can represent: consistent array sizes, parents before children.
//   kInvalidArgument: names the field, e.g. rig.meshes[0].positions.
absl::Status CheckShapes(const RigData& rig);

// `rig` must have passed CheckShapes. Index arrays use the smallest type that the message allows.
v1::Rig ToMessage(const RigData& rig);

// kInvalidArgument: an array whose type, size and bytes disagree. kUnimplemented: a field of a
// newer version.
absl::StatusOr<RigData> FromMessage(const v1::Rig& rig);

// `joint.parent` must be below 2^31.
Joint ToJoint(const v1::Joint& joint);
Control ToControl(const v1::Control& control);

}  // namespace sinew::client
