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

}  // namespace sinew::cli
