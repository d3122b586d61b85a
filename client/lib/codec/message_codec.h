// message_codec.h - converts between messages of sinew.v1 and the structs of the public headers.
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

// `recipe` is text, or JSON if its first character after white space is '{'.
//   kInvalidArgument: no rig, no recipe, or JSON that is not a recipe; names the field.
absl::StatusOr<v1::SessionSource> FromRecipe(const std::string& rig, const std::string& recipe,
                                             const std::string& determinism_digest);

// kInvalidArgument: neither session nor rig, or both.
absl::StatusOr<v1::Target> FromTarget(const Target& target);

v1::PoseLayout FromLayout(const PoseLayout& layout);
v1::OutputOptions FromOutput(const OutputOptions& output);

v1::Pose FromPose(const Pose& pose);

}  // namespace sinew::client
