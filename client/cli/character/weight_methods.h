// weight_methods.h - skin weights for commands: the method as an option names it, and the call.
#pragma once

#include <absl/status/statusor.h>

#include <string>

#include "client/cli/run/context.h"
#include "sinew/client.h"
#include "sinew/weights.h"

namespace sinew::cli {

// kInvalidArgument (usage): not capsule, heat or geodesic.
absl::StatusOr<client::WeightMethod> ReadWeightMethod(const std::string& option,
                                                      const std::string& name);

// Client::ComputeWeights with a progress line, until it is done or Ctrl-C is pressed.
absl::StatusOr<client::WeightedRig> ComputeWeights(const Context& context,
                                                   const client::Client& connection,
                                                   const client::WeightsRequest& request);

}  // namespace sinew::cli
