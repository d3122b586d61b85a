// statistics.h - percentiles, and the line through samples.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

namespace sinew::testing {

// The smallest value that at least a fraction q of the values do not exceed (nearest rank).
inline double Percentile(std::vector<double> values, double q) {
  if (values.empty()) return 0;
  const double rank = std::ceil(q * static_cast<double>(values.size()));
  const auto at = static_cast<std::ptrdiff_t>(std::max(1.0, rank)) - 1;
  std::nth_element(values.begin(), values.begin() + at, values.end());
  return values[static_cast<std::size_t>(at)];
}

// Slope of the least-squares line; 0 for fewer than two different x.
inline double Slope(std::span<const double> x, std::span<const double> y) {
  const auto n = static_cast<double>(x.size());
  double mean_x = 0, mean_y = 0, xx = 0, xy = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    mean_x += x[i] / n;
    mean_y += y[i] / n;
  }
  for (std::size_t i = 0; i < x.size(); ++i) {
    xx += (x[i] - mean_x) * (x[i] - mean_x);
    xy += (x[i] - mean_x) * (y[i] - mean_y);
  }
  return xx > 0 ? xy / xx : 0;
}

// Fewest over most; 1 if there are none.
inline double Fairness(std::span<const double> counts) {
  if (counts.empty()) return 1;
  const auto [fewest, most] = std::ranges::minmax(counts);
  return most > 0 ? fewest / most : 0;
}

}  // namespace sinew::testing
