// main.cc - sinewd: reads the command line and serves.
#include <cstdio>
#include <cstdlib>

#include "server/base/config.h"
#include "server/process/serve.h"

int main(int argc, char** argv) {
  sinew::server::BlockSignals();
  sinew::server::TuneMalloc();
  sinew::server::Config config;
  const sinew::server::CommandLine line = sinew::server::ParseCommandLine(argc, argv, config);
  if (!line.run) {
    std::fprintf(line.exit_code == 0 ? stdout : stderr, "%s\n", line.text.c_str());
    return line.exit_code;
  }
  const int code = sinew::server::Serve(config);
  // Threads of gRPC may still be tidying up, and static destructors must not run under them.
  std::fflush(nullptr);
  std::_Exit(code);
}
