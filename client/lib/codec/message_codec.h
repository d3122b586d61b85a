// message_codec.h - messages of sinew.v1 to and from the plain structs of the installed headers.
#pragma once

#include <absl/status/statusor.h>

#include <string>

#include "sinew/client.h"
#include "sinew/v1/deform_service.pb.h"
#include "sinew/v1/info_service.pb.h"
#include "sinew/v1/rig_service.pb.h"
#include "sinew/v1/session_service.pb.h"

namespace sinew::client {

ServerInfo ToServerInfo(const v1::GetServerInfoResponse& response);
Method ToMethod(const v1::Method& method);
Preset ToPreset(const v1::Preset& preset);
RigSummary ToRigSummary(const v1::RigSummary& summary);
Session ToSession(const v1::Session& session);

// Text form or JSON (first character beside blanks is '{').
//   kInvalidArgument: JSON that is no recipe, with unknown keys among the reasons; no rig,
//   no deformer.
absl::StatusOr<v1::SessionSource> FromRecipe(const std::string& rig, const std::string& recipe,
                                             const std::string& determinism_digest);

// kInvalidArgument: neither session nor rig, or both.
absl::StatusOr<v1::Target> FromTarget(const Target& target);

v1::PoseLayout FromLayout(const PoseLayout& layout);
v1::OutputOptions FromOutput(const OutputOptions& output);

// With pose.frame as it stands.
v1::Pose FromPose(const Pose& pose);

}  // namespace sinew::client
