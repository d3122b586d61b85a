// program.h - sinew: reads the command line, runs one command, turns its status into text and an
// exit code.
#pragma once

namespace sinew::cli {

// What main does; returns the exit code.
int RunProgram(int argc, const char* const* argv);

}  // namespace sinew::cli
