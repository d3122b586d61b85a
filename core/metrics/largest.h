// largest.h - the largest of many values, and their 99.9th percentile.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace sinew::metrics {

struct Largest {
  double value = 0;
  double percentile_999 = 0;  // the value at rank floor(.999 (n - 1)) in ascending order
};

// Reorders the values; there must be one or more, and no NaN.
inline Largest LargestOf(std::vector<double>& values) {
  const auto rank = static_cast<std::ptrdiff_t>(0.999 * static_cast<double>(values.size() - 1));
  const auto at = values.begin() + rank;
  std::nth_element(values.begin(), at, values.end());
  return {.value = *std::max_element(at, values.end()), .percentile_999 = *at};
}

}  // namespace sinew::metrics
