// suite.h - one run of the fault suite: its seed, its limits, what was injected and checked, and
// what went wrong.
#pragma once

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/support/random.h"

namespace sinew::testing {

// Ends a kind of fault that cannot continue; the violation is recorded.
struct Abandoned {};

// Thread-safe, except Begin.
class Suite {
 public:
  struct Options {
    std::uint32_t seed = 1;
    std::uint64_t kills = 20, frames = 20'000;
    double seconds = 120;
    std::vector<std::string> only;  // kinds of fault; empty = all
  };
  explicit Suite(Options options);

  const Options& options() const { return options_; }

  // A new kind of fault: what follows is counted under its name.
  void Begin(const std::string& kind);
  // What is about to happen; violations name it.
  void Step(const std::string& what);

  // Random numbers that depend on the seed, the kind and the purpose alone.
  Random Dice(const std::string& purpose) const;
  // So often is a step of a kind without a total of its own repeated; and one that takes seconds.
  std::uint64_t Repeats() const;
  std::uint64_t SlowRepeats() const;

  void Injected(const std::string& what, std::uint64_t count = 1) { Count(0, what, count); }
  void Checked(const std::string& what, std::uint64_t count = 1) { Count(1, what, count); }
  void Violated(const std::string& what);
  [[noreturn]] void Abandon(const std::string& what);

  // What must not fail for the suite to continue.
  void Need(const absl::Status& status, const std::string& what);
  template <class T>
  T Need(absl::StatusOr<T> value, const std::string& what) {
    Need(value.status(), what);
    return *std::move(value);
  }
  // The end of a call or stream that a fault has met: OK, or one of these codes.
  void CheckEnd(const absl::Status& status, const std::string& what,
                std::initializer_list<absl::StatusCode> documented);

  // A thread that may Abandon.
  std::thread Thread(std::function<void()> body);

  bool failed() const { return violations_ > 0; }
  bool OutOfTime() const;
  bool MayContinue() const { return !failed() && !OutOfTime(); }

  std::atomic<std::uint64_t> frames{0}, kills{0};

  // What was injected and checked; the exit code: 0, 1 after a violation, 2 if a total is missing.
  int Report() const;

 private:
  struct Kind {
    std::string name;
    double seconds = 0;
    std::uint64_t frames = 0;
    std::map<std::string, std::uint64_t> counts[2];  // injected, checked
  };
  void Count(int table, const std::string& what, std::uint64_t count);
  void EndKind();
  double Elapsed() const;

  const Options options_;
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::atomic<std::uint64_t> violations_{0};
  mutable std::mutex mutex_;  // guards the others
  std::vector<Kind> kinds_;
  double kind_start_ = 0;
  std::uint64_t frames_before_ = 0, step_ = 0;
  std::string what_;  // the step
};

// For faults that need time to pass: the suite disturbs programs that know no other clock.
void Pass(std::chrono::microseconds time);

}  // namespace sinew::testing
