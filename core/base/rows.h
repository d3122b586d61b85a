// rows.h - lists of values by row, one behind the other (compressed sparse rows). Collecting takes
// two passes and no sort, and has the same result for any number of threads.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

namespace sinew {

// Reading is thread-safe.
template <class T>
struct Rows {
  std::vector<std::uint64_t> offsets;  // [rows + 1] into values
  std::vector<T> values;

  // i < rows. Valid until `values` changes.
  std::span<const T> row(std::size_t i) const {
    return {values.data() + offsets[i], offsets[i + 1] - offsets[i]};
  }
};

// visit(add) calls add(row, value) for every value, row < rows; it is called twice, to count and to
// fill, and must call alike. Values keep their order within a row. O(rows + values); holds 8 bytes
// for each row beside the result. T needs a default constructor.
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

// Rows of the values that visit(begin, end, add) passes to add(row, value) for every chunk of [0,
// n), in the order of the chunks. Each is visited twice, on any thread, and must call alike. Holds
// up to 16 numbers of 8 bytes for each row beside the result. task: as core/parallel/task.h.
template <class T, class Task, class Visit>
Rows<T> CollectChunks(std::size_t rows, std::size_t n, const Task& task, const Visit& visit) {
  constexpr std::size_t kLeastGrain = 1024, kMostChunks = 16;  // each holds a number for every row
  const std::size_t grain = std::max(kLeastGrain, (n + kMostChunks - 1) / kMostChunks);
  const std::size_t chunks = (n + grain - 1) / grain;
  std::vector<std::uint64_t> next(chunks * rows);  // counts, then places
  const auto each = [&](const auto& use) {
    task.For(n, grain, [&](std::size_t begin, std::size_t end) {
      std::uint64_t* const of_row = next.data() + begin / grain * rows;
      visit(begin, end, [&](std::size_t row, const T& value) { use(of_row[row]++, value); });
    });
  };
  each([](std::uint64_t, const T&) {});
  Rows<T> result;
  result.offsets.reserve(rows + 1);
  std::uint64_t total = 0;
  for (std::size_t row = 0; row < rows; ++row) {
    result.offsets.push_back(total);
    for (std::size_t c = 0; c < chunks; ++c) {
      total += std::exchange(next[c * rows + row], total);
    }
  }
  result.offsets.push_back(total);
  result.values.resize(total);
  each([&](std::uint64_t at, const T& value) { result.values[at] = value; });
  return result;
}

}  // namespace sinew
