// muscle.h - the muscles of a sinew.v1.Rig to the core's. A part of convert/rig.
#pragma once

#include <absl/status/status.h>

#include "core/rig/rig.h"
#include "server/base/config.h"
#include "sinew/v1/rig.pb.h"

namespace sinew::server {

// Appends them to `source`, whose controls are there already; Rig::Create checks their values.
// kInvalidArgument: a point without three coordinates, an unknown shape, profile or control.
// kResourceExhausted: a limit on muscles or via points.
absl::Status ConvertMuscles(const v1::Rig& rig, const RigConfig& limits, RigSource& source);

}  // namespace sinew::server
