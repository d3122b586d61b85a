// dense_kernel.h - the inner loop of dense.h.
#pragma once

#include <cstddef>

namespace sinew {

// Pivots that are eliminated before the rest of the matrix is updated by all of them at once, which
// reads it less often. No bit depends on it.
inline constexpr std::size_t kDensePanel = 8;

// Subtracts from the columns [end, n) of the rows [end, n) of a matrix [n][n] the rows [end -
// kDensePanel, end), one after the other, times the numbers in the columns of the same indices.
// Products are rounded before they are subtracted.
void DensePanelKernel(double* matrix, std::size_t n, std::size_t end);

}  // namespace sinew
