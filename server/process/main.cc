// main.cc - sinewd: reads the command line and serves, or probes another server.
#include <absl/synchronization/mutex.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "server/base/config.h"
#include "server/process/probe.h"
#include "server/process/serve.h"

namespace {

int Probe(const std::string& address) {
  const absl::Status health = sinew::server::ProbeHealth(address);
  if (!health.ok()) std::fprintf(stderr, "sinewd: %s\n", std::string(health.message()).c_str());
  return health.ok() ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  sinew::server::BlockSignals();
  sinew::server::TuneMalloc();
  // Debian builds Abseil with deadlock detection: each lock, also those of gRPC, would cost a
  // global spin lock.
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
  sinew::server::Config config;
  const sinew::server::CommandLine line = sinew::server::ParseCommandLine(argc, argv, config);
  if (!line.run) {
    std::fprintf(line.exit_code == 0 ? stdout : stderr, "%s\n", line.text.c_str());
    return line.exit_code;
  }
  const int code = line.probe.empty() ? sinew::server::Serve(config) : Probe(line.probe);
  // gRPC threads may still be cleaning up; static destructors must not run concurrently with them.
  std::fflush(nullptr);
  std::_Exit(code);
}
