#include "client/bake/base/quantity.h"

#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <numeric>

#include "client/bake/base/errors.h"

namespace sinew::bake {

std::string CountText(std::uint64_t count) {
  const std::string digits = absl::StrCat(count);
  std::string text;
  for (std::size_t k = 0; k < digits.size(); ++k) {
    if (k > 0 && (digits.size() - k) % 3 == 0) text += ',';
    text += digits[k];
  }
  return text;
}

std::string BytesText(std::uint64_t bytes) {
  if (bytes < 1000) return absl::StrCat(bytes, bytes == 1 ? " byte" : " bytes");
  double value = static_cast<double>(bytes);
  const char* unit = "";
  for (const char* next : {"kB", "MB", "GB", "TB", "PB", "EB"}) {
    if (value < 999.95) break;
    value /= 1000;
    unit = next;
  }
  return absl::StrFormat("%.1f %s", value, unit);
}

std::string DurationText(absl::Duration duration) {
  if (duration == absl::InfiniteDuration()) return "never";
  const double seconds = absl::ToDoubleSeconds(duration);
  if (seconds < 0) return absl::StrCat("-", DurationText(-duration));
  if (seconds == 0) return "0 s";
  if (seconds < 1e-3) return absl::StrFormat("%.3g us", seconds * 1e6);
  if (seconds < 0.9995) return absl::StrFormat("%.3g ms", seconds * 1e3);
  if (seconds < 120) return absl::StrFormat("%.3g s", seconds);
  if (seconds < 7200) return absl::StrFormat("%.0f min", seconds / 60);
  return absl::StrFormat("%.1f h", seconds / 3600);
}

std::string NumberText(double value) {
  return absl::StrFormat("%.6g", value);
}

std::string ExactText(double value) {
  constexpr double kWhole = 1e15;  // below, to_chars may prefer "1e+07"
  if (std::abs(value) < kWhole && value == std::floor(value)) {
    return absl::StrCat(static_cast<std::int64_t>(value));
  }
  std::array<char, 32> digits;
  const auto result = std::to_chars(digits.data(), digits.data() + digits.size(), value);
  return std::string(digits.data(), result.ptr);
}

absl::StatusOr<absl::Duration> ParseDuration(const std::string& option, const std::string& text) {
  absl::Duration duration;
  double seconds = 0;
  if (absl::SimpleAtod(text, &seconds)) {
    duration = absl::Seconds(seconds);
  } else if (!absl::ParseDuration(text, &duration)) {
    return RequestError(
        absl::StrCat(option, ": got \"", text, "\", need a time such as 90, 10m or 1h30m"));
  }
  if (duration <= absl::ZeroDuration() || duration == absl::InfiniteDuration()) {
    return RequestError(absl::StrCat(option, ": got \"", text, "\", need a time above 0"));
  }
  return duration;
}

Spread SpreadOf(std::vector<double> values) {
  if (values.empty()) return {};
  std::sort(values.begin(), values.end());
  const auto rank = [&](double part) {
    const double k = std::ceil(part * static_cast<double>(values.size()));
    return values[static_cast<std::size_t>(std::max(1.0, k)) - 1];
  };
  const double sum = std::accumulate(values.begin(), values.end(), 0.0);
  return {.mean = sum / static_cast<double>(values.size()),
          .p50 = rank(0.5),
          .p90 = rank(0.9),
          .p99 = rank(0.99),
          .p999 = rank(0.999),
          .maximum = values.back()};
}

}  // namespace sinew::bake
