#include "client/cli/character/weight_methods.h"

#include <absl/strings/str_cat.h>

#include "client/cli/base/exit_code.h"

namespace sinew::cli {

absl::StatusOr<client::WeightMethod> ReadWeightMethod(const std::string& option,
                                                      const std::string& name) {
  if (name == "capsule") return client::WeightMethod::kCapsule;
  if (name == "heat") return client::WeightMethod::kHeat;
  if (name == "geodesic") return client::WeightMethod::kGeodesic;
  return UsageError(absl::StrCat(option, ": got \"", name, "\", need capsule, heat or geodesic"));
}

absl::StatusOr<client::WeightedRig> ComputeWeights(const Context& context,
                                                   const client::Client& connection,
                                                   const client::WeightsRequest& request) {
  const auto line = context.MakeProgress("Weights");
  client::CallOptions call = context.call();
  call.deadline = absl::InfiniteDuration();  // Ctrl-C ends it
  return connection.ComputeWeights(
      request, [line](double part) { line->Update(part); }, call);
}

}  // namespace sinew::cli
