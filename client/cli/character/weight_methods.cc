#include "client/cli/character/weight_methods.h"

#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>

#include "client/bake/base/errors.h"
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
  absl::StatusOr<client::WeightedRig> weighted = connection.ComputeWeights(
      request, [line](double part) { line->Update(part); }, call);
  const absl::Status status = weighted.status();
  if (!absl::IsResourceExhausted(status) || !absl::StrContains(status.message(), "may need")) {
    return weighted;
  }
  return bake::Reworded(status,
                        absl::StrCat(status.message(), ", 8 % of the server's --memory-bytes",
                                     request.method == client::WeightMethod::kHeat
                                         ? "; the methods geodesic and capsule need less"
                                         : ""));
}

}  // namespace sinew::cli
