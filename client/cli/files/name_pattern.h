// name_pattern.h - names of files with words in braces: "walk.{mesh}.pc2".
#pragma once

#include <map>
#include <string>

namespace sinew::cli {

// Whether `pattern` contains {word}.
bool HasWord(const std::string& pattern, const std::string& word);

// `pattern` with every {word} of `values` replaced. In values, ASCII characters other than letters,
// digits and `-_.` become `_`, so that they are safe in any file system.
std::string ExpandName(const std::string& pattern,
                       const std::map<std::string, std::string>& values);

}  // namespace sinew::cli
