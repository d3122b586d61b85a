// read_options.h - the options that say how FILE is read, the same in every command.
#pragma once

#include "client/cli/base/options.h"
#include "client/cli/character/character_file.h"

namespace sinew::cli {

// Adds --strict.
void AddStrictOption(OptionSet& set, ReadOptions& options);
// Adds --muscles, --unweighted and --strict.
void AddReadOptions(OptionSet& set, ReadOptions& options);

}  // namespace sinew::cli
