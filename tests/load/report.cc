#include "tests/load/report.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>

#include <cmath>
#include <cstdio>

namespace sinew::testing {
namespace {

constexpr std::uint64_t kShownErrors = 20;

// Three significant digits, and whole numbers as they are.
std::string Number(double value) {
  if (value == std::round(value) && std::abs(value) < 1e12) return absl::StrFormat("%.0f", value);
  if (std::abs(value) >= 100) return absl::StrFormat("%.0f", value);
  return absl::StrFormat("%.3g", value);
}

std::string WithUnit(double value, const std::string& unit) {
  return unit.empty() ? Number(value) : absl::StrCat(Number(value), " ", unit);
}

}  // namespace

void Report::Begin(const std::string& part) {
  const std::lock_guard lock(mutex_);
  part_ = part;
  std::printf("== %s ==\n", part.c_str());
  std::fflush(stdout);
}

void Report::Error(const std::string& what) {
  const std::uint64_t count = ++errors_;
  if (count > kShownErrors) return;
  const std::lock_guard lock(mutex_);
  std::printf("ERROR in %s: %s%s\n", part_.c_str(), what.c_str(),
              count == kShownErrors ? "\n(further errors are only counted)" : "");
  std::fflush(stdout);
}

bool Report::Check(const absl::Status& status, const std::string& call) {
  if (!status.ok()) Error(absl::StrCat(call, ": got ", status.ToString()));
  return status.ok();
}

void Report::Note(const std::string& figure, double value, const std::string& unit) {
  const std::lock_guard lock(mutex_);
  rows_.push_back({part_, figure, WithUnit(value, unit), "", ""});
}

void Report::AtMost(const std::string& figure, double value, const std::string& unit, double bound,
                    Kind kind) {
  Judge(figure, value, unit, "at most ", bound, value <= bound, kind);
}

void Report::AtLeast(const std::string& figure, double value, const std::string& unit, double bound,
                     Kind kind) {
  Judge(figure, value, unit, "at least ", bound, value >= bound, kind);
}

void Report::Judge(const std::string& figure, double value, const std::string& unit,
                   const char* relation, double bound, bool kept, Kind kind) {
  const bool judged = kind == Kind::kAlways || judge_times_;
  const std::lock_guard lock(mutex_);
  if (!kept && judged) ++broken_;
  rows_.push_back({part_, figure, WithUnit(value, unit),
                   absl::StrCat(relation, WithUnit(bound, unit)),
                   !judged ? "not judged"
                   : kept  ? "kept"
                           : "**BROKEN**"});
}

int Report::Print() const {
  const std::lock_guard lock(mutex_);
  std::printf("\n| part | figure | measured | bound | |\n|---|---|---:|---:|---|\n");
  for (const Row& row : rows_) {
    std::printf("| %s | %s | %s | %s | %s |\n", row.part.c_str(), row.figure.c_str(),
                row.value.c_str(), row.bound.c_str(), row.verdict.c_str());
  }
  std::printf("\n%llu errors, %llu broken bounds\n", static_cast<unsigned long long>(errors_),
              static_cast<unsigned long long>(broken_));
  std::fflush(stdout);
  return errors_ > 0 || broken_ > 0 ? 1 : 0;
}

}  // namespace sinew::testing
