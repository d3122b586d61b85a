// program.h - sinewd: reads the command line and serves, probes another server, or makes a token.
#pragma once

namespace sinew::server {

// What main does. Returns the exit code, or ends the process once it has served. Call it before
// starting any thread.
int RunProgram(int argc, const char* const* argv);

}  // namespace sinew::server
