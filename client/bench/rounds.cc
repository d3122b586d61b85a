#include "client/bench/rounds.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "core/base/status.h"

namespace sinew::bench {

// Between two ranks lies a value in proportion.
Quartiles QuartilesOf(std::vector<double> values) {
  if (values.empty()) return {};
  std::ranges::sort(values);
  const auto at = [&](double part) {
    const double rank = part * static_cast<double>(values.size() - 1);
    const auto below = static_cast<std::size_t>(rank);
    const std::size_t above = std::min(below + 1, values.size() - 1);
    return std::lerp(values[below], values[above], rank - static_cast<double>(below));
  };
  return {.median = at(0.5), .low = at(0.25), .high = at(0.75)};
}

absl::Status TakeTurns(std::size_t rows, std::size_t rounds,
                       const std::function<absl::Status(std::size_t row)>& measure) {
  std::mt19937 random(7);  // one order for everyone who repeats a run
  std::vector<std::size_t> order(rows);
  std::iota(order.begin(), order.end(), std::size_t{0});
  for (std::size_t round = 0; round < rounds; ++round) {
    std::ranges::shuffle(order, random);
    for (const std::size_t row : order) SINEW_RETURN_IF_ERROR(measure(row));
  }
  return absl::OkStatus();
}

}  // namespace sinew::bench
