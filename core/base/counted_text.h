// counted_text.h - a number with its noun, for messages: "1 frame", "48 frames".
#pragma once

#include <absl/strings/str_cat.h>
#include <absl/strings/string_view.h>

#include <cstdint>
#include <string>

namespace sinew {

// `singular` if the count is 1, else `plural`. Either may go on with a verb: "joint is missing",
// "joints are missing".
inline std::string CountedText(std::uint64_t count, absl::string_view singular,
                               absl::string_view plural) {
  return absl::StrCat(count, " ", count == 1 ? singular : plural);
}

// For a noun whose plural ends in s.
inline std::string CountedText(std::uint64_t count, absl::string_view noun) {
  return CountedText(count, noun, absl::StrCat(noun, "s"));
}

}  // namespace sinew
