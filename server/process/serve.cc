#include "server/process/serve.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>
#include <malloc.h>
#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

#include "server/access/access.h"
#include "server/base/address.h"
#include "server/base/clock.h"
#include "server/base/files.h"
#include "server/base/log.h"
#include "server/process/listener.h"
#include "server/process/ready_file.h"
#include "server/process/server.h"
#include "server/shared/object_store.h"
#include "server/shared/session_records.h"
#include "server/store/data_folder.h"
#include "server/web/web_port.h"

namespace sinew::server {
namespace {

constexpr std::size_t kSmallStack = 2 << 20;
constexpr int kUnclean = 1, kUnavailable = 69, kConfiguration = 78;

sigset_t EndingSignals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  return signals;
}

void Complain(const absl::Status& status) {
  std::fprintf(stderr, "sinewd: %s\n", std::string(status.message()).c_str());
}

int CodeOf(const absl::Status& error) {
  return absl::IsUnavailable(error) ? kUnavailable : kConfiguration;
}

// The next signal, or SIGTERM when `parent` has ended. Not PR_SET_PDEATHSIG, which also fires when
// only the thread that started this process ends.
int WaitForSignal(bool exit_with_parent, pid_t parent) {
  constexpr timespec kPoll{.tv_sec = 0, .tv_nsec = 100'000'000};
  sigset_t awaited = EndingSignals();
  sigaddset(&awaited, SIGHUP);
  while (true) {
    const int signal =
        exit_with_parent ? sigtimedwait(&awaited, nullptr, &kPoll) : sigwaitinfo(&awaited, nullptr);
    if (signal > 0) return signal;
    if (exit_with_parent && ::getppid() != parent) return SIGTERM;
  }
}

// Waits until running calls are finished, the deadline passes or a second signal arrives. True: all
// are finished.
bool DrainUntilDone(Server& server, double seconds, const sigset_t& signals) {
  server.Drain();
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  while (!server.WaitDrained(std::chrono::milliseconds(0))) {
    const timespec wait{.tv_sec = 0, .tv_nsec = 20'000'000};
    if (sigtimedwait(&signals, nullptr, &wait) > 0) return false;
    if (std::chrono::steady_clock::now() >= deadline) {
      return server.WaitDrained(std::chrono::milliseconds(0));
    }
  }
  return true;
}

}  // namespace

void BlockSignals() {
  sigset_t signals = EndingSignals();
  sigaddset(&signals, SIGHUP);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);  // a write beyond the limit of a file's size fails instead
}

void TuneMalloc() {
  mallopt(M_MMAP_THRESHOLD, 256 << 20);
  mallopt(M_TRIM_THRESHOLD, 512 << 20);
  mallopt(M_TOP_PAD, 16 << 20);
  rlimit space{};
  if (::getrlimit(RLIMIT_AS, &space) != 0 || space.rlim_cur == RLIM_INFINITY) return;
  // Stacks and the heaps of threads reserve much more address space than they use.
  mallopt(M_ARENA_MAX, 2);
  mallopt(M_TOP_PAD, 1 << 20);
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes) != 0) return;
  pthread_attr_setstacksize(&attributes, kSmallStack);
  pthread_setattr_default_np(&attributes);
  pthread_attr_destroy(&attributes);
}

int CheckFiles(const Config& config) {
  // What a server would only warn of, as it starts all the same.
  LogConfig log;
  log.level = "warning";
  log.take = [](const std::string& message) {
    std::fprintf(stderr, "sinewd: warning: %s\n", message.c_str());
  };
  std::unique_ptr<LogOutput> warnings = LogOutput::ToStderr(log);
  absl::Status status = Access::Create(config.access, RealClock(), warnings->log()).status();
  if (const std::string& folder = config.rigs.data_dir; status.ok() && !folder.empty()) {
    status = CheckDataFolder(folder);
  }
  if (status.ok() && !config.shared.store.empty()) {
    const absl::StatusOr<std::string> note = ObjectStore::Check(config.shared);
    status = note.status();
    if (note.ok() && !note->empty()) std::fprintf(stderr, "sinewd: note: %s\n", note->c_str());
  }
  if (status.ok()) {
    const auto records = SessionRecords::Open(config.shared, warnings->log());
    status = records.status();
    // Whether Redis answers; the log has why not.
    if (status.ok() && *records != nullptr) (*records)->FindRequest("", "check").IgnoreError();
  }
  warnings.reset();  // writes them
  const auto check = [&status](const char* option, const absl::Status& of_file) {
    if (!status.ok() || of_file.ok()) return;
    status = absl::FailedPreconditionError(absl::StrCat(option, ": ", of_file.message()));
  };
  if (const std::string& path = config.log.audit; !path.empty() && path != "-") {
    check("audit-log", CheckWritableFile(path));
  }
  if (const std::string& path = config.network.ready_file; !path.empty()) {
    check("ready-file", CheckReplaceableFile(path));
  }
  Config fitted = config;
  if (status.ok()) status = fitted.FitTo(ReadMachine());
  // Last, as an address may be in use by the server that this configuration is for.
  for (const std::string& address : config.network.listen) {
    if (status.ok()) status = Listener::Check("listen", address);
  }
  if (status.ok() && config.network.http != "off") {
    status = Listener::Check("http", config.network.http);
  }
  if (status.ok() && config.network.web != "off") {
    status = WebPort::PageFolder().status();
    if (status.ok()) status = Listener::Check("web", WithHost(config.network.web));
  }
  for (const std::string& name : config.unknown_variables) {
    std::fprintf(stderr, "sinewd: warning: environment: %s: no option has this variable\n",
                 name.c_str());
  }
  if (status.ok()) {
    std::puts("sinewd: the configuration is valid");
    return 0;
  }
  Complain(status);
  return CodeOf(status);
}

int Serve(const Config& config, const std::function<absl::StatusOr<Config>()>& read_again) {
  const pid_t parent = ::getppid();
  // gRPC's internal messages do not belong in this program's log.
  ::setenv("GRPC_VERBOSITY", "NONE", 0);
  absl::StatusOr<ReadyFile> ready = ReadyFile::Prepare(config.network.ready_file);
  if (!ready.ok()) {
    Complain(ready.status());
    return kConfiguration;
  }
  absl::StatusOr<std::unique_ptr<Server>> started = Server::Start(config);
  if (!started.ok()) {
    Complain(started.status());
    return CodeOf(started.status());
  }
  Server& server = **started;
  // Print the line first, so that it is there once the file exists.
  const std::string line =
      config.log.format == "json"
          ? ReadyText(server, -1)
          : absl::StrCat(
                "sinewd: listening on ", absl::StrJoin(server.addresses(), ", "), "\n",
                server.web_address().empty()
                    ? ""
                    : absl::StrCat("sinewd: page at ", config.access.UsesTls() ? "https" : "http",
                                   "://", server.web_address(), "\n"));
  std::fputs(line.c_str(), stdout);
  // A parent that ended before `parent` was asked for has left the pipe that it reads the line
  // from.
  const bool left = std::fflush(stdout) != 0 && errno == EPIPE && config.network.exit_with_parent;
  if (const absl::Status status = ready->Write(server); !status.ok()) {
    Complain(status);
    return kConfiguration;
  }

  while (!left && WaitForSignal(config.network.exit_with_parent, parent) == SIGHUP) {
    server.Reload(read_again());
  }
  const bool clean = DrainUntilDone(server, config.network.drain_seconds, EndingSignals());
  server.Stop();
  ready->Remove();
  return clean ? 0 : kUnclean;
}

}  // namespace sinew::server
