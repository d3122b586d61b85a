#include "server/process/program.h"

#include <absl/status/statusor.h>
#include <absl/synchronization/mutex.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

#include "client/lib/base/standard_streams.h"
#include "server/access/tokens.h"
#include "server/base/config.h"
#include "server/base/files.h"
#include "server/process/probe.h"
#include "server/process/process_stats.h"
#include "server/process/serve.h"

namespace sinew::server {
namespace {

int Probe(const std::string& address) {
  const absl::Status health = ProbeHealth(address);
  if (!health.ok()) std::fprintf(stderr, "sinewd: %s\n", std::string(health.message()).c_str());
  return health.ok() ? 0 : 1;
}

// The token goes to a file, as logs and terminals keep what is printed.
int WriteToken(const std::string& name, const std::string& file) {
  const auto failed = [](int code, const absl::Status& status) {
    std::fprintf(stderr, "sinewd: make-token: %s\n", std::string(status.message()).c_str());
    return code;
  };
  const auto made = MakeToken(name);
  if (!made.ok()) return failed(64, made.status());
  std::error_code error;
  if (std::filesystem::exists(std::filesystem::symlink_status(file, error))) {
    return failed(73, absl::AlreadyExistsError(file + ": exists already"));
  }
  const absl::Status written = WriteAtomically(file, made->token + "\n");
  if (!written.ok()) return failed(73, written);
  std::fputs(made->line.c_str(), stdout);
  if (std::fflush(stdout) == 0) return 0;
  std::remove(file.c_str());
  return failed(73, absl::UnavailableError("cannot write to stdout"));
}

}  // namespace

int RunProgram(int argc, const char* const* argv) {
  OpenStandardStreams();
  BlockSignals();
  TuneMalloc();
  RaiseFileLimit();
  // Debian builds Abseil with deadlock detection: each lock, also those of gRPC, would cost a
  // global spin lock.
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
  Config config;
  const CommandLine line = ParseCommandLine(argc, argv, config);
  if (!line.run) {
    std::fprintf(line.exit_code == 0 ? stdout : stderr, "%s\n", line.text.c_str());
    return line.exit_code;
  }
  const auto read_again = [&]() -> absl::StatusOr<Config> {
    Config again;
    const auto result = ParseCommandLine(argc, argv, again);
    if (!result.run) return absl::InvalidArgumentError(result.text);
    return again;
  };
  const int code = line.check                 ? CheckFiles(config)
                   : !line.probe.empty()      ? Probe(line.probe)
                   : !line.make_token.empty() ? WriteToken(line.make_token, line.token_out)
                                              : Serve(config, read_again);
  // gRPC threads may still be cleaning up; static destructors must not run concurrently with them.
  std::fflush(nullptr);
  std::_Exit(code);
}

}  // namespace sinew::server
