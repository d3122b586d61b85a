#include "core/deform/implicit/field/joint_operators.h"

#include <absl/strings/ascii.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>
#include <absl/strings/str_split.h>

#include <algorithm>
#include <optional>
#include <span>

#include "core/base/closest_names.h"
#include "core/base/status.h"

namespace sinew {
namespace {

std::string List(std::span<const std::string_view> names) {
  return absl::StrJoin(names, ", ",
                       [](std::string* out, std::string_view name) { out->append(name); });
}

template <class E>
std::optional<E> Find(absl::string_view word) {
  const auto names = ChoiceNames(E{});
  const auto at = std::ranges::find(names, StdView(word));
  if (at == names.end()) return std::nullopt;
  return static_cast<E>(at - names.begin());
}

// Removes and returns the last word and the blanks before it.
absl::string_view TakeLastWord(absl::string_view& text) {
  const std::size_t blank = text.find_last_of(" \t\n\r");
  const std::size_t begin = blank == absl::string_view::npos ? 0 : blank + 1;
  const absl::string_view word = text.substr(begin);
  text = absl::StripAsciiWhitespace(text.substr(0, begin));
  return word;
}

absl::StatusOr<NamedOperator> ParseEntry(absl::string_view entry, FieldController controller) {
  absl::string_view rest = entry;
  NamedOperator named{.joint = {}, .controller = controller};
  absl::string_view word = TakeLastWord(rest);
  if (const auto own = Find<FieldController>(word)) {
    named.controller = *own;
    word = TakeLastWord(rest);
  }
  const auto op = Find<FieldOperator>(word);
  if (!op || rest.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "implicit.joints: got '", entry, "', need 'name operator [controller]' with operator ",
        List(ChoiceNames(FieldOperator{})), " and controller ",
        List(ChoiceNames(FieldController{}))));
  }
  named.op = *op;
  named.joint = std::string(rest);
  return named;
}

std::vector<std::string> JointNames(const Skeleton& skeleton) {
  std::vector<std::string> names;
  for (std::size_t j = 0; j < skeleton.joints(); ++j) names.push_back(skeleton.joint(j).name);
  return names;
}

}  // namespace

absl::StatusOr<std::vector<NamedOperator>> ParseJointOperators(std::string_view text,
                                                               FieldController controller) {
  std::vector<NamedOperator> all;
  for (const absl::string_view part : absl::StrSplit(AbslView(text), ';')) {
    const absl::string_view entry = absl::StripAsciiWhitespace(part);
    if (entry.empty()) continue;
    SINEW_ASSIGN_OR_RETURN(NamedOperator named, ParseEntry(entry, controller));
    all.push_back(std::move(named));
  }
  return all;
}

absl::StatusOr<std::vector<JointOperator>> FindJointOperators(
    const std::vector<NamedOperator>& named, const Skeleton& skeleton) {
  std::vector<JointOperator> found;
  for (const NamedOperator& entry : named) {
    const std::uint32_t joint = skeleton.Find(entry.joint);
    if (joint == kNoParent) {
      return absl::InvalidArgumentError(
          absl::StrCat("implicit.joints: the rig has no joint '", entry.joint, "'",
                       DidYouMean(entry.joint, JointNames(skeleton))));
    }
    if (std::ranges::find(found, joint, &JointOperator::joint) != found.end()) {
      return absl::InvalidArgumentError(
          absl::StrCat("implicit.joints: duplicate joint '", entry.joint, "'"));
    }
    found.push_back({.joint = joint, .op = entry.op, .controller = entry.controller});
  }
  return found;
}

}  // namespace sinew
