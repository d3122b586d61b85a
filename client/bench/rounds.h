// rounds.h - rows of a comparison that take turns, and what their rounds say.
#pragma once

#include <absl/status/status.h>

#include <cstddef>
#include <functional>
#include <vector>

namespace sinew::bench {

// The median of the values, and between which two the middle half lies.
struct Quartiles {
  double median = 0, low = 0, high = 0;
};
// Zeros if there are no values.
Quartiles QuartilesOf(std::vector<double> values);

// Calls measure(row) for each of `rows` once a round, in a random order in every round, so that
// what drifts (heat, other programs) falls on all alike. The first error ends it.
absl::Status TakeTurns(std::size_t rows, std::size_t rounds,
                       const std::function<absl::Status(std::size_t row)>& measure);

}  // namespace sinew::bench
