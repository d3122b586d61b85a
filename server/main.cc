// main.cc - sinewd: reads the command line and serves.
#include <cstdio>

#include "server/config.h"
#include "server/serve.h"

int main(int argc, char** argv) {
  sinew::server::BlockSignals();
  sinew::server::TuneMalloc();
  sinew::server::Config config;
  const sinew::server::CommandLine line = sinew::server::ParseCommandLine(argc, argv, config);
  if (!line.run) {
    std::fprintf(line.exit_code == 0 ? stdout : stderr, "%s\n", line.text.c_str());
    return line.exit_code;
  }
  return sinew::server::Serve(config);
}
