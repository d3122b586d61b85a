// joint_suggestion.h - finds a joint by a typed name.
#pragma once

#include <absl/status/statusor.h>

#include <cstddef>
#include <string>

#include "core/base/closest_names.h"
#include "sinew/rig_data.h"

namespace sinew::bake {

// Part of the message about an unknown joint.
inline constexpr char kNoJoint[] = ", which is no joint of the character";

// The joint of that name. kInvalidArgument: there is none; the message begins with "got" and
// suggests similar names, or else the least different. also: another word that may be meant.
absl::StatusOr<std::size_t> FindJoint(const client::RigData& rig, const std::string& name,
                                      const std::string& also = {});

}  // namespace sinew::bake
