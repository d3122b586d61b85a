// quantity.h - counts, sizes and times as people read them, and their spread.
#pragma once

#include <absl/status/statusor.h>
#include <absl/time/time.h>

#include <cstdint>
#include <string>
#include <vector>

namespace sinew::bake {

std::string CountText(std::uint64_t count);         // "12,597"
std::string BytesText(std::uint64_t bytes);         // "741.9 kB" (powers of 1000), "12 bytes"
std::string DurationText(absl::Duration duration);  // "0.42 ms", "3.1 s", "12 min"
std::string NumberText(double value);               // shortest of 6 digits: "0.033", "24"
std::string ExactText(double value);                // shortest that reads as the same: "1000.121"

// "90", "90s", "10m", "1h30m": seconds unless a unit is given. `option` names it in errors, which
// are RequestError.
absl::StatusOr<absl::Duration> ParseDuration(const std::string& option, const std::string& text);

struct Spread {
  double mean = 0, p50 = 0, p90 = 0, p99 = 0, p999 = 0, maximum = 0;
};
// Nearest-rank percentiles. `values` in any order; all zero if empty.
Spread SpreadOf(std::vector<double> values);

}  // namespace sinew::bake
