// joint_suggestion.h - finds a joint by a typed name.
#pragma once

#include <absl/status/statusor.h>

#include <cstddef>
#include <string>

#include "core/base/closest_names.h"
#include "sinew/rig_data.h"

namespace sinew::cli {

// The joint of that name. kInvalidArgument: there is none; the message begins with "got", suggests
// similar names, and says how to list the joints.
absl::StatusOr<std::size_t> FindJoint(const client::RigData& rig, const std::string& name);

}  // namespace sinew::cli
