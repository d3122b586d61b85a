// rows.h - lists of values by row, one behind the other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

namespace sinew {

template <class T>
struct Rows {
  std::vector<std::uint64_t> offsets;  // [rows + 1] into values
  std::vector<T> values;

  std::span<const T> row(std::size_t i) const {
    return {values.data() + offsets[i], offsets[i + 1] - offsets[i]};
  }
};

// visit(add) calls add(row, value) for every value; it is called twice, to count and to fill.
// Values keep their order within a row.
template <class T, class Visit>
Rows<T> CollectRows(std::size_t rows, Visit&& visit) {
  Rows<T> result;
  result.offsets.assign(rows + 1, 0);
  visit([&](std::size_t row, const T&) { ++result.offsets[row + 1]; });
  std::partial_sum(result.offsets.begin(), result.offsets.end(), result.offsets.begin());
  result.values.resize(result.offsets.back());
  std::vector<std::uint64_t> next(result.offsets.begin(), result.offsets.end() - 1);
  visit([&](std::size_t row, const T& value) { result.values[next[row]++] = value; });
  return result;
}

}  // namespace sinew
