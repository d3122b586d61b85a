#include "core/solve/dense.h"

#include <algorithm>
#include <cmath>

#include "core/solve/dense_kernel.h"

namespace sinew {
void SolveDense(std::span<double> matrix, std::span<double> values) {
  const std::size_t n = values.size();
  const auto row = [&](std::size_t r) { return matrix.data() + r * n; };
  for (std::size_t begin = 0; begin < n; begin += kDensePanel) {
    const std::size_t end = std::min(n, begin + kDensePanel);
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
    for (std::size_t p = begin + 1; p < end; ++p) {
      for (std::size_t k = begin; k < p; ++k) {
        const double factor = row(p)[k];
        for (std::size_t c = end; c < n; ++c) row(p)[c] -= factor * row(k)[c];
      }
    }
    if (end < n) DensePanelKernel(matrix.data(), n, end);
  }
  for (std::size_t p = n; p-- > 0;) {
    values[p] /= row(p)[p];
    for (std::size_t r = 0; r < p; ++r) values[r] -= row(r)[p] * values[p];
  }
}

}  // namespace sinew
