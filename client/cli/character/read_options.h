// read_options.h - the options that say how FILE is read, the same in every command.
#pragma once

#include <absl/status/statusor.h>

#include <cstddef>
#include <string>

#include "client/bake/character/character_file.h"
#include "client/cli/base/options.h"
#include "client/cli/run/context.h"

namespace sinew::cli {

// Adds --strict.
void AddStrictOption(OptionSet& set, bake::ReadOptions& options);
// Adds --muscles, --unweighted and --strict.
void AddReadOptions(OptionSet& set, bake::ReadOptions& options);

// Prints ShownWarnings; "warnings" of --json has ImportWarnings. Returns how many there are.
std::size_t WarnOfImport(const Context& context, const bake::CharacterFile& character);

// ReadCharacter for a command that uses the result, and WarnOfImport.
//   Errors of ReadCharacter. kInvalidArgument: options.strict and there are warnings.
absl::StatusOr<bake::CharacterFile> ReadAndWarn(const Context& context, const std::string& file,
                                                const bake::ReadOptions& options);

}  // namespace sinew::cli
