#include "client/bake/character/joint_suggestion.h"

#include <absl/strings/ascii.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace sinew::bake {
namespace {

// "; the closest are a, b, c", for a typed name that resembles none.
std::string ClosestText(const std::string& typed, const std::vector<std::string>& names) {
  constexpr std::size_t kMost = 3;
  std::vector<std::pair<std::size_t, std::string>> far;
  for (const std::string& name : names) {
    far.emplace_back(EditDistance(absl::AsciiStrToLower(typed), absl::AsciiStrToLower(name)), name);
  }
  std::ranges::stable_sort(far, {}, &std::pair<std::size_t, std::string>::first);
  std::vector<std::string> closest;
  for (std::size_t k = 0; k < far.size() && k < kMost; ++k) closest.push_back(far[k].second);
  return closest.empty() ? "" : absl::StrCat("; the closest are ", absl::StrJoin(closest, ", "));
}

}  // namespace

absl::StatusOr<std::size_t> FindJoint(const client::RigData& rig, const std::string& name,
                                      const std::string& also) {
  std::vector<std::string> names;
  for (const client::Joint& joint : rig.joints) {
    if (joint.name == name) return names.size();
    names.push_back(joint.name);
  }
  const std::string typed = name.substr(0, kLongestTypedName);
  std::vector<std::string> words = names;
  if (!also.empty()) words.push_back(also);
  std::string near = DidYouMean(name, words);
  if (near.empty()) near = ClosestText(typed, names);
  return absl::InvalidArgumentError(absl::StrCat("got \"", typed, "\"", kNoJoint, near));
}

}  // namespace sinew::bake
