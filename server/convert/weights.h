// weights.h - ComputeWeights between protobuf and core: options, meshes as they were bound, and the
// new skins.
#pragma once

#include <absl/status/statusor.h>

#include <string>

#include "core/weights/rig_weights.h"
#include "server/base/config.h"
#include "sinew/v1/rig_service.pb.h"

namespace sinew::server {

// Everything but `rig` and `joints`. kInvalidArgument: no method, a value out of range, options of
// another method; kResourceExhausted: above a limit.
absl::StatusOr<WeightOptions> ReadWeightOptions(const v1::ComputeWeightsRequest& request,
                                                const WeightsConfig& limits, const RigConfig& rigs);

// A rig as uploaded, for the joints that `request` names. kInvalidArgument: an unknown or
// duplicate joint; otherwise as ReadRig.
absl::StatusOr<RigWeightsInput> ReadWeightsInput(const v1::Rig& rig,
                                                 const v1::ComputeWeightsRequest& request,
                                                 const RigConfig& limits);

// The rig with its skins replaced by `weights`, which were computed from `input`; the rest is
// unchanged. kInvalidArgument: a joint that would carry skin has a singular frame.
absl::Status ReplaceSkins(const RigWeightsInput& input, const RigWeights& weights, v1::Rig& rig);

v1::WeightsReport ToProto(const WeightReport& report);

}  // namespace sinew::server
