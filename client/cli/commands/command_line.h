// command_line.h - from argv to a command that can be run.
#pragma once

#include <string>

#include "client/cli/run/context.h"

namespace sinew::cli {

struct CommandLine {
  Globals globals;
  Command command;    // empty: print the texts and leave with `exit_code`
  std::string name;   // of the sub-command
  int exit_code = 0;  // 0 after --help and --version, 64 after a mistake
  std::string output, errors;
};

// Reads the whole command line; touches no file and no server. Never throws.
CommandLine ParseCommandLine(int argc, const char* const* argv);

}  // namespace sinew::cli
