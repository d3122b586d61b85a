// command_line.h - from argv to a command that can be run.
#pragma once

#include <string>
#include <vector>

#include "client/cli/run/context.h"

namespace sinew::cli {

struct CommandLine {
  Globals globals;
  Command command;                   // empty: print the texts and leave with `exit_code`
  std::string name;                  // of the sub-command
  std::vector<std::string> options;  // of all sub-commands, without dashes
  int exit_code = 0;                 // 0 after --help and --version, 64 after a mistake
  std::string output, errors;
};

// Reads the whole command line; touches no file and no server. Never throws.
CommandLine ParseCommandLine(int argc, const char* const* argv);

// Libraries name the members of a request, as in "velocity_step: got 0.5, need `shutter`". Where
// options fill them, the message names those: "--velocity-step: got 0.5, need --shutter".
absl::Status NameOption(const CommandLine& line, const absl::Status& status);

}  // namespace sinew::cli
