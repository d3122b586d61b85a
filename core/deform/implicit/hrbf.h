// hrbf.h - Hermite radial basis function through points with normals: fit and evaluation in double,
// and the form in float that the kernel sums.
//
// f(x) = sum_j alpha_j l^3 + 3 l (beta_j . d), d = x - c_j, l = |d|: the triharmonic kernel without
// polynomial part. f = 0 and grad f = normal at every point. Source: Macedo et al. 2011, with the
// linear system in symmetric form.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "core/base/aligned.h"
#include "core/base/types.h"

namespace sinew {

struct HrbfValue {
  double f = 0;
  Vec3d gradient;
};

struct Hrbf {
  std::vector<Vec3d> centres;
  std::vector<double> alpha;
  std::vector<Vec3d> beta;

  std::size_t size() const { return centres.size(); }
  HrbfValue At(const Vec3d& x) const;
  double Value(const Vec3d& x) const;
};

// At least 1 point in any unit, no two coincident; unit normals. Empty if the system is nearly
// singular: a constraint violated by more than 1e-6 (of the mean spacing, or of 1). Memory: (4 N)^2
// doubles; time: (4 N)^3 * 2 / 3 flops.
Hrbf FitHrbf(std::span<const Vec3d> points, std::span<const Vec3d> normals);

// In float: terms of f grow with the cube of the distance and cancel to four digits. They are
// therefore split into
//
//    l^3 = -l^2 (l - r)^2 / (2 r) + (l^4 + r^2 l^2) / (2 r),  3 l = 3 (l - r) + 3 r
//
// With r slightly below the largest distance the first summands stay small and are factored, hence
// as accurate as l - r. The others form one polynomial of degree four, summed once in double.
// Cancellation in float, and its rounding, becomes 25 times smaller.

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
