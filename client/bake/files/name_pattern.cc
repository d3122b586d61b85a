#include "client/bake/files/name_pattern.h"

#include <absl/strings/ascii.h>
#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>
#include <absl/strings/str_replace.h>

#include <charconv>
#include <filesystem>
#include <optional>
#include <regex>
#include <utility>
#include <vector>

namespace sinew::bake {
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

// Where the number is in a file name, and how many digits it has at least.
struct NumberPlace {
  std::size_t at = 0, size = 0;
  int digits = 1;
};

std::optional<NumberPlace> FindNumber(const std::string& name) {
  // Bounded: a long run would exhaust the stack, and no name is longer.
  static const std::regex form(R"(#{1,255}|%(0[0-9])?d)");
  std::smatch found;
  if (!std::regex_search(name, found, form)) return std::nullopt;
  NumberPlace place = {.at = static_cast<std::size_t>(found.position()),
                       .size = static_cast<std::size_t>(found.length())};
  if (name[place.at] == '#') {
    place.digits = static_cast<int>(place.size);
  } else if (found[1].matched) {
    place.digits = found[1].str()[1] - '0';
  }
  return place;
}

}  // namespace

bool HasFrameNumber(const std::string& pattern) {
  return FindNumber(std::filesystem::path(pattern).filename().string()).has_value();
}

std::string FrameName(const std::string& pattern, std::int64_t frame) {
  std::filesystem::path path(pattern);
  std::string name = path.filename().string();
  if (const auto place = FindNumber(name)) {
    name.replace(place->at, place->size, absl::StrFormat("%0*d", place->digits, frame));
  }
  return path.replace_filename(name).string();
}

std::optional<std::int64_t> FrameOfName(const std::string& pattern, const std::string& name) {
  const std::string form = std::filesystem::path(pattern).filename().string();
  const auto place = FindNumber(form);
  if (!place || name.size() < place->at) return std::nullopt;
  std::int64_t frame = 0;
  const auto read = std::from_chars(name.data() + place->at, name.data() + name.size(), frame);
  if (read.ec != std::errc() || FrameName(form, frame) != name) return std::nullopt;
  return frame;
}

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

}  // namespace sinew::bake
