#include "core/solve/dense.h"

#include <algorithm>
#include <cmath>

namespace sinew {
namespace {

// Pivots that are eliminated before the rest of the matrix is updated by all of them at once, which
// reads it less often. No bit depends on it.
constexpr std::size_t kPanel = 8;

// rows [n][n], columns from `first`: row -= sum of factors[k] * rows[pivot + k], one after the
// other.
template <std::size_t kPivots>
void Subtract(const double* const* pivots, const double* factors, std::size_t first, std::size_t n,
              double* __restrict row) {
  for (std::size_t c = first; c < n; ++c) {
    double sum = row[c];
    for (std::size_t k = 0; k < kPivots; ++k) sum -= factors[k] * pivots[k][c];
    row[c] = sum;
  }
}

}  // namespace

void SolveDense(std::span<double> matrix, std::span<double> values) {
  const std::size_t n = values.size();
  const auto row = [&](std::size_t r) { return matrix.data() + r * n; };
  for (std::size_t begin = 0; begin < n; begin += kPanel) {
    const std::size_t end = std::min(n, begin + kPanel);
    for (std::size_t p = begin; p < end; ++p) {
      std::size_t best = p;
      for (std::size_t r = p + 1; r < n; ++r) {
        if (std::abs(row(r)[p]) > std::abs(row(best)[p])) best = r;
      }
      if (best != p) {
        std::swap_ranges(row(p), row(p) + n, row(best));
        std::swap(values[p], values[best]);
      }
      for (std::size_t r = p + 1; r < n; ++r) {
        const double factor = row(r)[p] /= row(p)[p];
        for (std::size_t c = p + 1; c < end; ++c) row(r)[c] -= factor * row(p)[c];
        values[r] -= factor * values[p];
      }
    }
    // The rows of the panel, then those below it.
    const double* pivots[kPanel];
    for (std::size_t k = 0; k < end - begin; ++k) pivots[k] = row(begin + k);
    for (std::size_t p = begin + 1; p < end; ++p) {
      for (std::size_t k = begin; k < p; ++k) {
        Subtract<1>(pivots + (k - begin), row(p) + k, end, n, row(p));
      }
    }
    for (std::size_t r = end; r < n; ++r) Subtract<kPanel>(pivots, row(r) + begin, end, n, row(r));
  }
  for (std::size_t p = n; p-- > 0;) {
    values[p] /= row(p)[p];
    for (std::size_t r = 0; r < p; ++r) values[r] -= row(r)[p] * values[p];
  }
}

}  // namespace sinew
