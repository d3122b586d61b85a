// near_names.h - what somebody meant who typed a name that there is not.
#pragma once

#include <absl/status/statusor.h>

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "sinew/rig_data.h"

namespace sinew::cli {

// "; did you mean a, b or c?": up to three of `names` that `typed` may be a slip or a part of, the
// nearest first. Empty: none is near.
std::string DidYouMean(std::string_view typed, std::span<const std::string> names);

// The joint of that name. kInvalidArgument: none; the message begins with "got" and says where
// joints are listed.
absl::StatusOr<std::size_t> FindJoint(const client::RigData& rig, const std::string& name);

}  // namespace sinew::cli
