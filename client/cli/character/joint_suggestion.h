// joint_suggestion.h - joints by the names that somebody typed.
#pragma once

#include <absl/status/statusor.h>

#include <cstddef>
#include <string>

#include "core/base/closest_names.h"
#include "sinew/rig_data.h"

namespace sinew::cli {

// The joint of that name. kInvalidArgument: none; the message begins with "got", names what is
// near, and says where joints are listed.
absl::StatusOr<std::size_t> FindJoint(const client::RigData& rig, const std::string& name);

}  // namespace sinew::cli
