// hrbf.h - Hermite radial basis function through points with normals: fit and evaluation in double,
// for binding and tests.
//
// f(x) = sum_j alpha_j l^3 + 3 l (beta_j . d), d = x - c_j, l = |d|: the triharmonic kernel without
// polynomial part. f = 0 and grad f = normal at every point. Source: Macedo et al. 2011, with the
// linear system in symmetric form.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

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

}  // namespace sinew
