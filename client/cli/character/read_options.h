// read_options.h - the options that say how FILE is read, the same in every command.
#pragma once

#include <absl/status/statusor.h>

#include <string>

#include "client/bake/character/character_file.h"
#include "client/cli/base/options.h"
#include "client/cli/run/context.h"

namespace sinew::cli {

// Adds --strict.
void AddStrictOption(OptionSet& set, bake::ReadOptions& options);
// Adds --muscles, --unweighted and --strict.
void AddReadOptions(OptionSet& set, bake::ReadOptions& options);

// ReadCharacter for a command that uses the result: prints ShownWarnings.
//   Errors of ReadCharacter. kInvalidArgument: options.strict and there are warnings.
absl::StatusOr<bake::CharacterFile> ReadAndWarn(const Context& context, const std::string& file,
                                                const bake::ReadOptions& options);

}  // namespace sinew::cli
