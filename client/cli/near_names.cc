#include "client/cli/near_names.h"

#include <absl/strings/ascii.h>
#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

namespace sinew::cli {
namespace {

constexpr std::size_t kMostNames = 3;
constexpr std::size_t kLeastPart = 3;       // shorter ones are part of too much
constexpr std::size_t kLongestTyped = 100;  // nobody slips so long

// Characters to insert, remove or replace (Levenshtein's distance).
std::size_t Edits(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

// How far `name` is from what was typed, both in lower case; nothing: too far.
std::optional<std::size_t> Distance(const std::string& typed, const std::string& name) {
  if (typed == name) return 0;
  if (std::min(typed.size(), name.size()) >= kLeastPart &&
      (absl::StrContains(name, typed) || absl::StrContains(typed, name))) {
    return 1;
  }
  const std::size_t edits = Edits(typed, name);
  return edits <= 1 + typed.size() / 5 && edits < typed.size() ? std::optional(edits)
                                                               : std::nullopt;
}

}  // namespace

std::string DidYouMean(std::string_view typed, std::span<const std::string> names) {
  if (typed.size() > kLongestTyped) return {};
  const std::string lower = absl::AsciiStrToLower(std::string(typed));
  std::vector<std::pair<std::size_t, std::string>> near;
  for (const std::string& name : names) {
    const auto distance = Distance(lower, absl::AsciiStrToLower(name));
    if (distance) near.emplace_back(*distance, name);
  }
  std::ranges::stable_sort(near, {}, &std::pair<std::size_t, std::string>::first);
  near.resize(std::min(near.size(), kMostNames));
  std::string text;
  for (std::size_t k = 0; k < near.size(); ++k) {
    const char* before = k == 0 ? "; did you mean " : k + 1 == near.size() ? " or " : ", ";
    absl::StrAppend(&text, before, near[k].second);
  }
  return text.empty() ? text : text + "?";
}

absl::StatusOr<std::size_t> FindJoint(const client::RigData& rig, const std::string& name) {
  std::vector<std::string> names;
  for (const client::Joint& joint : rig.joints) {
    if (joint.name == name) return names.size();
    names.push_back(joint.name);
  }
  const std::string near = DidYouMean(name, names);
  return absl::InvalidArgumentError(absl::StrCat(
      "got \"", name.substr(0, kLongestTyped), "\", which is no joint of the character", near,
      near.empty() ? "; " : " ", "`sinew inspect FILE --joints` lists them"));
}

}  // namespace sinew::cli
