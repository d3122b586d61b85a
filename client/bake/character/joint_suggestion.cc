#include "client/bake/character/joint_suggestion.h"

#include <absl/strings/str_cat.h>

#include <vector>

namespace sinew::bake {

absl::StatusOr<std::size_t> FindJoint(const client::RigData& rig, const std::string& name) {
  std::vector<std::string> names;
  for (const client::Joint& joint : rig.joints) {
    if (joint.name == name) return names.size();
    names.push_back(joint.name);
  }
  return absl::InvalidArgumentError(absl::StrCat("got \"", name.substr(0, kLongestTypedName), "\"",
                                                 kNoJoint, DidYouMean(name, names)));
}

}  // namespace sinew::bake
