#include "server/process/readiness.h"

#include <absl/strings/str_cat.h>
#include <absl/time/time.h>
#include <fcntl.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <optional>
#include <utility>

#include "core/base/counted_text.h"
#include "core/base/status.h"
#include "server/base/address.h"
#include "server/base/files.h"
#include "server/process/own_port.h"

namespace sinew::server {
namespace {

constexpr std::chrono::milliseconds kAnswer{1000};
constexpr std::chrono::seconds kFresh{1};
// A frame may take seconds, so a thread that is busy for one is at work.
constexpr std::chrono::seconds kThreadsAnswer{10};
constexpr std::uint64_t kFreeBytes = 64 << 20;

absl::Status CheckFolder(const std::string& folder) {
  if (folder.empty()) return absl::OkStatus();
  // A file without a name: nothing is left if the process is killed.
  const Descriptor file(::open(folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600));
  if (!file.ok() && errno != EOPNOTSUPP && errno != EISDIR) {
    return absl::UnavailableError(absl::StrCat("cannot write: ", std::strerror(errno)));
  }
  if (const std::uint64_t free = FreeBytes(folder); free < kFreeBytes) {
    return absl::UnavailableError(absl::StrCat(free, " bytes free, need ", kFreeBytes));
  }
  return absl::OkStatus();
}

}  // namespace

std::uint64_t FreeBytes(const std::string& folder) {
  struct statvfs facts {};
  if (::statvfs(folder.c_str(), &facts) != 0) return 0;
  return static_cast<std::uint64_t>(facts.f_bavail) * facts.f_frsize;
}

// Checks started together. Jobs hold a reference, so that one that comes back late is harmless.
struct Readiness::Round {
  explicit Round(Clock::Time now) : start(now) {}
  const Clock::Time start;
  absl::Mutex mutex ABSL_ACQUIRED_AFTER(&Readiness::mutex_);
  std::optional<absl::Status> disk ABSL_GUARDED_BY(mutex);
  bool workers ABSL_GUARDED_BY(mutex) = false, arena ABSL_GUARDED_BY(mutex) = false;

  bool IsDone() {
    const absl::MutexLock lock(&mutex);
    return Done();
  }
  bool Done() const ABSL_SHARED_LOCKS_REQUIRED(mutex) { return disk && workers && arena; }
};

HttpPort::Probe Readiness::Check() {
  const absl::MutexLock lock(&mutex_);
  const Clock::Time now = RealClock().Now();
  if (now >= expires_) {
    last_ = CheckNow();
    expires_ = RealClock().Now() + kFresh;
  }
  HttpPort::Probe probe = last_;
  const bool draining = runtime_.work.closed();
  if (draining) probe.ready = false;
  probe.verbose.insert(0, draining ? "[-]serving draining\n" : "[+]serving ok\n");
  return probe;
}

void Readiness::Start(Clock::Time now) {
  auto round = std::make_shared<Round>(now);
  round_ = round;
  runtime_.control.PostStep({},
                            [round, folder = runtime_.config.rigs.data_dir](const absl::Status&) {
                              absl::Status disk = CheckFolder(folder);
                              const absl::MutexLock lock(&round->mutex);
                              round->workers = true;
                              round->disk = std::move(disk);
                            });
  runtime_.arenas.Post(Arenas::Frames::kInteractive, {}, [round] {
    const absl::MutexLock lock(&round->mutex);
    round->arena = true;
  });
}

HttpPort::Probe Readiness::CheckNow() {
  const Clock::Time now = RealClock().Now();
  // Jobs that are still waiting are not started again: a server under load must not be loaded more.
  if (round_ == nullptr || round_->IsDone()) Start(now);
  const bool tls = runtime_.access->certificates() != nullptr && !IsUnixAddress(address_);
  const absl::Status port =
      address_.empty() ? absl::OkStatus() : CheckOwnPort(address_, tls, kAnswer);
  Round& round = *round_;
  const absl::MutexLock lock(&round.mutex);
  round.mutex.AwaitWithTimeout(absl::Condition(&round, &Round::Done), absl::FromChrono(kAnswer));
  const bool late = RealClock().Now() - round.start > kThreadsAnswer;
  HttpPort::Probe probe{.ready = true, .verbose = {}};
  const auto line = [&](const char* name, const absl::Status& status) {
    probe.ready = probe.ready && status.ok();
    absl::StrAppend(&probe.verbose, status.ok() ? "[+]" : "[-]", name, " ",
                    status.ok() ? "ok" : status.message(), "\n");
  };
  const auto answered = [&](bool done) {
    return done || !late ? absl::OkStatus()
                         : absl::UnavailableError(
                               absl::StrCat("no answer for ", kThreadsAnswer.count(), " s"));
  };
  line("port", port);
  line("workers", answered(round.workers));
  line("arena", answered(round.arena));
  line("disk", round.disk.value_or(answered(round.disk.has_value())));
  const v1::ServerStats stats = runtime_.Stats();
  absl::StrAppend(&probe.verbose, "[+]rigs ok: ", stats.rigs(), " stored\n",
                  "[+]binds ok: ", stats.binds_running(), " running, ", stats.binds_queued(),
                  " queued\n", "[+]streams ok: ", stats.streams(), " open\n");
  // The server is ready without them.
  if (runtime_.shared != nullptr) {
    absl::StrAppend(&probe.verbose, runtime_.shared->up() ? "[+]store ok: " : "[-]store down: ",
                    CountedText(runtime_.shared->pending(), "object"), " to write\n");
  }
  if (runtime_.records != nullptr) {
    absl::StrAppend(&probe.verbose, runtime_.records->up() ? "[+]session records ok\n"
                                                           : "[-]session records down\n");
  }
  return probe;
}

}  // namespace sinew::server
