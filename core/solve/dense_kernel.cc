#include "core/solve/dense_kernel.h"

#include "core/simd/levels.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/solve/dense_kernel.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace sinew::HWY_NAMESPACE {

// Columns from `column` on, as long as they fill whole vectors; returns the first that is left.
template <class D>
HWY_INLINE std::size_t SubtractColumns(D d, const double* pivots, std::size_t n,
                                       const double* factors, std::size_t column, double* row) {
  namespace hn = hwy::HWY_NAMESPACE;
  hn::Vec<D> factor[kDensePanel];
  for (std::size_t k = 0; k < kDensePanel; ++k) factor[k] = hn::Set(d, factors[k]);
  for (; column + hn::Lanes(d) <= n; column += hn::Lanes(d)) {
    auto sum = hn::LoadU(d, row + column);
    for (std::size_t k = 0; k < kDensePanel; ++k) {
      sum = hn::Sub(sum, hn::Mul(factor[k], hn::LoadU(d, pivots + k * n + column)));
    }
    hn::StoreU(sum, d, row + column);
  }
  return column;
}

void SubtractPanel(double* matrix, std::size_t n, std::size_t end) {
  const std::size_t begin = end - kDensePanel;
  const double* const pivots = matrix + begin * n;
  for (std::size_t r = end; r < n; ++r) {
    double* const row = matrix + r * n;
    const std::size_t left = SubtractColumns(hwy::HWY_NAMESPACE::ScalableTag<double>(), pivots, n,
                                             row + begin, end, row);
    SubtractColumns(hwy::HWY_NAMESPACE::CappedTag<double, 1>(), pivots, n, row + begin, left, row);
  }
}

}  // namespace sinew::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
SINEW_KERNEL(void, DensePanelKernel, (double* matrix, std::size_t n, std::size_t end),
             SubtractPanel, (matrix, n, end))
#endif
