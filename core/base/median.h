// median.h - the median of a list of numbers.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace sinew {

// The upper one of an even number of values, which must not be empty. O(n).
inline double Median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace sinew
