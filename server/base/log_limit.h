// log_limit.h - how many lines about one client's failures are logged.
#pragma once

#include <absl/base/thread_annotations.h>
#include <absl/status/status.h>
#include <absl/synchronization/mutex.h>

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "server/base/clock.h"

namespace sinew::server {

// What fails: one client's calls of one code and, where they matter, of one principal.
struct FailureKind {
  std::string client, principal;
  std::optional<absl::StatusCode> code = {};  // none = of all codes
  auto operator<=>(const FailureKind&) const = default;
};

// Admits the first lines of a kind in each period of ten seconds and counts the others, so that one
// client's mistakes neither fill the disk nor hide another's. Thread-safe.
class LogLimit {
 public:
  static constexpr int kLines = 10;
  static constexpr std::chrono::seconds kPeriod{10};
  static constexpr std::size_t kKinds = 1024;  // known at a time; all others together are one

  bool Admit(const FailureKind& kind, Clock::Time now);

  struct Suppressed {
    FailureKind kind;
    std::uint64_t lines;
  };
  // Kinds whose period has ended with lines that were not admitted; forgets every ended period.
  std::vector<Suppressed> TakeEnded(Clock::Time now);

 private:
  struct Period {
    Clock::Time end;
    std::uint64_t lines = 0;
  };
  absl::Mutex mutex_;
  std::map<FailureKind, Period> periods_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace sinew::server
