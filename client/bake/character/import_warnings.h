// import_warnings.h - what the importer changed or lost so that it may show in the result.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "client/bake/character/character_file.h"

namespace sinew::bake {

inline constexpr std::size_t kMostWarnings = 10;  // that are shown, one line each

// "FILE: PLACE: MESSAGE" of every warning, and not of what is only worth knowing.
std::vector<std::string> ImportWarnings(const CharacterFile& character);

// Returns the warnings up to kMostWarnings, then a line with the number of the others.
std::vector<std::string> ShownWarnings(const CharacterFile& character);

}  // namespace sinew::bake
