// packed_hrbf.h - a fitted field in float, in the form that the kernel sums.
//
// Terms of f grow with the cube of the distance and cancel to four digits. They are therefore split
// into
//
//    l^3 = -l^2 (l - r)^2 / (2 r) + (l^4 + r^2 l^2) / (2 r),  3 l = 3 (l - r) + 3 r
//
// With r slightly below the largest distance the first summands stay small and are factored, hence
// as accurate as l - r. The others form one polynomial of degree four, summed once in double.
// Cancellation in float, and its rounding, becomes 25 times smaller.
#pragma once

#include <cstddef>

#include "core/base/aligned.h"
#include "core/deform/implicit/hrbf.h"

namespace sinew {

// A centre: c, a = -alpha / (2 r), b = 3 beta, 0.
inline constexpr std::size_t kCentreFloats = 8;
// With X = |u|^2 and the centres as rounded: q X^2 + X (p . u) + u . M u + v . u + k.
//
//    0 q, 1 p, 4 M xx yy zz yz zx xy, 10 v, 13 k; 14 r; 15 unused
inline constexpr std::size_t kPolynomialFloats = 16;

// Appends [count][kCentreFloats] and [kPolynomialFloats]. Centres are ordered to keep partial sums
// small.
void AppendPacked(const Hrbf& fit, AlignedVector<float>& centres,
                  AlignedVector<float>& polynomials);

}  // namespace sinew
