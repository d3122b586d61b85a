// packed_hrbf.h - a fit in float32, as the kernel sums it.
//
// Terms of f grow with the cube of the distance and cancel by four digits. So they are split, those
// of alpha and of beta by
//   l^3 = -l^2 (l - r)^2 / (2 r) + (l^4 + r^2 l^2) / (2 r),  3 l = 3 (l - r) + 3 r
// With r a little less than the largest distance the first parts stay small, and come factored,
// hence as exact as l - r. The others add up to a polynomial of the fourth degree, which is summed
// in double once. What cancels in float32 is 25 times smaller then, and so is the rounding.
#pragma once

#include <cstddef>

#include "core/base/aligned.h"
#include "core/deform/implicit/field/hrbf.h"

namespace sinew {

// A centre: c, a = -alpha / (2 r), b = 3 beta, 0.
inline constexpr std::size_t kCentreFloats = 8;
// With X = |u|^2, of the centres as they were rounded: q X^2 + X (p . u) + u . M u + v . u + k.
//   0 q, 1 p, 4 M xx yy zz yz zx xy, 10 v, 13 k; 14 r; 15 unused
inline constexpr std::size_t kPolynomialFloats = 16;

// [count][kCentreFloats] and [kPolynomialFloats], appended. The centres come in an order in which
// partial sums stay small.
void AppendPacked(const Hrbf& fit, AlignedVector<float>& centres,
                  AlignedVector<float>& polynomials);

}  // namespace sinew
