#include "client/cli/files/name_pattern.h"

#include <absl/strings/ascii.h>
#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_replace.h>

#include <utility>
#include <vector>

namespace sinew::cli {
namespace {

std::string Safe(std::string value) {
  for (char& c : value) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x80 && !absl::ascii_isalnum(byte) && c != '-' && c != '_' && c != '.') c = '_';
  }
  return value;
}

std::string InBraces(const std::string& word) {
  return absl::StrCat("{", word, "}");
}

}  // namespace

bool HasWord(const std::string& pattern, const std::string& word) {
  return absl::StrContains(pattern, InBraces(word));
}

std::string ExpandName(const std::string& pattern,
                       const std::map<std::string, std::string>& values) {
  std::vector<std::pair<std::string, std::string>> replacements;
  for (const auto& [word, value] : values) {
    replacements.emplace_back(InBraces(word), Safe(value));
  }
  return absl::StrReplaceAll(pattern, replacements);  // in one pass: values are not expanded
}

}  // namespace sinew::cli
