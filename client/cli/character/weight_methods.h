// weight_methods.h - how skin weights are computed, as an option names it.
#pragma once

#include <absl/status/statusor.h>

#include <string>

#include "sinew/weights.h"

namespace sinew::cli {

// kInvalidArgument (usage): not capsule, heat or geodesic.
absl::StatusOr<client::WeightMethod> ReadWeightMethod(const std::string& option,
                                                      const std::string& name);

}  // namespace sinew::cli
