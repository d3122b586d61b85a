// dense.h - dense linear systems, with the same bits on every processor.
#pragma once

#include <cstddef>
#include <span>

namespace sinew {

// Replaces `values` by the solution x of  matrix x = values. Gaussian elimination with partial
// pivoting; of equal pivots the first is taken. Every entry is updated in the order of the pivots,
// by a product that is rounded before it is subtracted, so neither vector width nor fused
// multiply-adds nor cache sizes decide a bit. Time: 2 / 3 n^3 flops. A singular matrix gives
// numbers that are not finite.
//
//    matrix  [n][n] by rows; overwritten
//    values  [n]
void SolveDense(std::span<double> matrix, std::span<double> values);

}  // namespace sinew
