// name_pattern.h - names of files with words in braces: "walk.{mesh}.pc2".
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace sinew::bake {

// Whether `pattern` contains {word}.
bool HasWord(const std::string& pattern, const std::string& word);

// `pattern` with every {word} of `values` replaced. In values, ASCII characters other than letters,
// digits and `-_.` become `_`, so that they are safe in any file system.
std::string ExpandName(const std::string& pattern,
                       const std::map<std::string, std::string>& values);

// Whether the file name has a place for a frame number: "hero.####.obj" or "hero.%04d.obj".
bool HasFrameNumber(const std::string& pattern);

// The file of a frame, its number with as many digits at least: "hero.0012.obj".
std::string FrameName(const std::string& pattern, std::int64_t frame);

// The frame of which FrameName makes this file name; none if it is not of the pattern.
std::optional<std::int64_t> FrameOfName(const std::string& pattern, const std::string& name);

}  // namespace sinew::bake
