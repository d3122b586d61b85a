// report.h - the figures of one run with their bounds, and the errors that happened. Thread-safe.
#pragma once

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <atomic>
#include <cstdint>
#include <mutex>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace sinew::testing {

// Ends a part that cannot continue; the error is recorded.
struct Abandoned {};

class Report {
 public:
  // judge_times: otherwise bounds on times and shares are printed, but breaking them is no failure.
  explicit Report(bool judge_times) : judge_times_(judge_times) {}

  // What follows belongs to this part.
  void Begin(const std::string& part);

  // Something failed that must not. The first few are printed at once, all are counted.
  void Error(const std::string& what);
  std::uint64_t errors() const { return errors_; }
  // OK, or an error that names the call.
  bool Check(const absl::Status& status, const std::string& call);

  // What must succeed for the part to continue.
  void Need(const absl::Status& status, const std::string& call) {
    if (!Check(status, call)) throw Abandoned();
  }
  template <class T>
  T Need(absl::StatusOr<T> value, const std::string& call) {
    Need(value.status(), call);
    return *std::move(value);
  }

  // A figure without a bound.
  void Note(const std::string& figure, double value, const std::string& unit = "");
  // Figures with one. Kind: times and shares depend on what else the machine does.
  enum class Kind { kAlways, kTime };
  void AtMost(const std::string& figure, double value, const std::string& unit, double bound,
              Kind kind = Kind::kAlways);
  void AtLeast(const std::string& figure, double value, const std::string& unit, double bound,
               Kind kind = Kind::kAlways);

  // The table in Markdown. The exit code: 0, or 1 after an error or a broken bound.
  int Print() const;

 private:
  struct Row {
    std::string part, figure, value, bound, verdict;
  };
  void Judge(const std::string& figure, double value, const std::string& unit, const char* relation,
             double bound, bool kept, Kind kind);

  const bool judge_times_;
  std::atomic<std::uint64_t> errors_{0}, broken_{0};
  mutable std::mutex mutex_;  // guards the others
  std::string part_;
  std::vector<Row> rows_;
};

}  // namespace sinew::testing
