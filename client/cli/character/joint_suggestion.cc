#include "client/cli/character/joint_suggestion.h"

#include <absl/strings/str_cat.h>

#include <vector>

namespace sinew::cli {

absl::StatusOr<std::size_t> FindJoint(const client::RigData& rig, const std::string& name) {
  std::vector<std::string> names;
  for (const client::Joint& joint : rig.joints) {
    if (joint.name == name) return names.size();
    names.push_back(joint.name);
  }
  const std::string near = DidYouMean(name, names);
  return absl::InvalidArgumentError(absl::StrCat(
      "got \"", name.substr(0, kLongestTypedName), "\", which is no joint of the character", near,
      near.empty() ? "; " : " ", "`sinew inspect FILE --joints` lists them"));
}

}  // namespace sinew::cli
