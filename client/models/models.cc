#include "client/models/models.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>

namespace sinew::client {

std::vector<std::string> ModelNames() {
  return {"arm", "cylinder", "hand", "tube"};
}

absl::StatusOr<Model> Make(const std::string& name) {
  if (name == "arm") return Arm();
  if (name == "cylinder") return Cylinder();
  if (name == "hand") return Hand();
  if (name == "tube") return Tube();
  return absl::NotFoundError(
      absl::StrCat("model: got '", name, "', need one of ", absl::StrJoin(ModelNames(), ", ")));
}

}  // namespace sinew::client
