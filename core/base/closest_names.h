// closest_names.h - suggests close matches for a misspelled name.
//
// Names are bytes; case is ignored for ASCII letters only. Thread-safe. Header-only, because the
// client library also uses it and does not link core.
//
//    message += DidYouMean(typed, names);  // "; did you mean forearm_l or forearm_r?"
#pragma once

#include <absl/strings/ascii.h>
#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sinew {

inline constexpr std::size_t kLongestTypedName = 100;  // longer input is not worth an edit distance

// Bytes inserted, removed, replaced or swapped with their neighbour: the optimal string alignment
// distance. Cost O(|a| |b|).
inline std::size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1), above(b.size() + 1), row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    before.swap(above);
    above.swap(row);
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      row[j + 1] = std::min({above[j] + (a[i] == b[j] ? 0 : 1), row[j] + 1, above[j + 1] + 1});
      if (i > 0 && j > 0 && a[i] == b[j - 1] && a[i - 1] == b[j]) {
        row[j + 1] = std::min(row[j + 1], before[j - 1] + 1);
      }
    }
  }
  return row.back();
}

// Distance of `name` from the typed text, both lower case: 0 if equal, 1 if one contains the other,
// else the edit distance if it is at most 1 + |typed| / 5; otherwise nothing.
inline std::optional<std::size_t> NameDistance(const std::string& typed, const std::string& name) {
  constexpr std::size_t kMinPart = 3;  // shorter texts are part of too many names
  if (typed == name) return 0;
  if (std::min(typed.size(), name.size()) >= kMinPart &&
      (absl::StrContains(name, typed) || absl::StrContains(typed, name))) {
    return 1;
  }
  const std::size_t edits = EditDistance(typed, name);
  return edits <= 1 + typed.size() / 5 && edits < typed.size() ? std::optional(edits)
                                                               : std::nullopt;
}

// "; did you mean a, b or c?": up to three of `names`, nearest first, ties in the order of `names`.
// Empty if none is close or `typed` is longer than kLongestTypedName. Cost O(names).
inline std::string DidYouMean(std::string_view typed, std::span<const std::string> names) {
  constexpr std::size_t kMaxNames = 3;
  if (typed.size() > kLongestTypedName) return {};
  const std::string lower = absl::AsciiStrToLower(std::string(typed));
  std::vector<std::pair<std::size_t, std::string>> near;
  for (const std::string& name : names) {
    const auto distance = NameDistance(lower, absl::AsciiStrToLower(name));
    if (distance) near.emplace_back(*distance, name);
  }
  std::ranges::stable_sort(near, {}, &std::pair<std::size_t, std::string>::first);
  near.resize(std::min(near.size(), kMaxNames));
  std::string text;
  for (std::size_t k = 0; k < near.size(); ++k) {
    const char* before = k == 0 ? "; did you mean " : k + 1 == near.size() ? " or " : ", ";
    absl::StrAppend(&text, before, near[k].second);
  }
  return text.empty() ? text : text + "?";
}

}  // namespace sinew
