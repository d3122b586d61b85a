// import_warnings.h - what the importer changed or lost so that it may show in the result.
#pragma once

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <cstddef>
#include <string>
#include <vector>

#include "client/cli/character/character_file.h"
#include "client/cli/run/context.h"

namespace sinew::cli {

inline constexpr std::size_t kMostWarnings = 10;  // that are shown, one line each

// "FILE: PLACE: MESSAGE" of every warning, and not of what is only worth knowing.
std::vector<std::string> ImportWarnings(const CharacterFile& character);

// Returns the warnings up to kMostWarnings, then a line with the number of the others.
std::vector<std::string> ShownWarnings(const CharacterFile& character);

// ReadCharacter for a command that uses the result: prints ShownWarnings.
//   Errors of ReadCharacter. kInvalidArgument: options.strict and there are warnings.
absl::StatusOr<CharacterFile> ReadAndWarn(const Context& context, const std::string& file,
                                          const ReadOptions& options);

}  // namespace sinew::cli
