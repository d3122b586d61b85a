#include "core/deform/implicit/hrbf.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "core/base/vectors.h"
#include "core/solve/dense.h"

namespace sinew {
namespace {

constexpr double kMissed = 1e-6;

double MeanSpacing(std::span<const Vec3d> points) {
  double sum = 0;
  for (const Vec3d& p : points) {
    double nearest = std::numeric_limits<double>::infinity();
    for (const Vec3d& q : points) {
      if (&p != &q) nearest = std::min(nearest, Dot(p - q, p - q));
    }
    sum += std::sqrt(nearest);
  }
  const double mean = sum / static_cast<double>(points.size());
  return mean > 0 && std::isfinite(mean) ? mean : 1;
}

// Rows f, df/dx, df/dy, df/dz at offset d from a centre, columns alpha and -beta of the centre; the
// sign makes the matrix of the whole system symmetric.
std::array<std::array<double, 4>, 4> Block(const Vec3d& d) {
  const double l = Length(d);
  if (l == 0) return {};
  const std::array<double, 3> at = {d.x, d.y, d.z};
  std::array<std::array<double, 4>, 4> block;
  block[0][0] = l * l * l;
  for (std::size_t i = 0; i < 3; ++i) {
    block[1 + i][0] = 3 * l * at[i];
    block[0][1 + i] = -3 * l * at[i];
    for (std::size_t k = 0; k < 3; ++k) {
      block[1 + i][1 + k] = -3 * (at[i] * at[k] / l + (i == k ? l : 0));
    }
  }
  return block;
}

}  // namespace

HrbfValue Hrbf::At(const Vec3d& x) const {
  HrbfValue sum;
  for (std::size_t j = 0; j < centres.size(); ++j) {
    const Vec3d d = x - centres[j];
    const double s = Dot(d, d), l = std::sqrt(s), q = 3 * Dot(beta[j], d);
    if (l == 0) continue;
    sum.f += l * (alpha[j] * s + q);
    sum.gradient = sum.gradient + (3 * alpha[j] * l + q / l) * d + (3 * l) * beta[j];
  }
  return sum;
}

double Hrbf::Value(const Vec3d& x) const {
  double f = 0;
  for (std::size_t j = 0; j < centres.size(); ++j) {
    const Vec3d d = x - centres[j];
    const double s = Dot(d, d);
    f += std::sqrt(s) * (alpha[j] * s + 3 * Dot(beta[j], d));
  }
  return f;
}

Hrbf FitHrbf(std::span<const Vec3d> points, std::span<const Vec3d> normals) {
  // The condition number depends on units: spacing 1 is best.
  const double spacing = MeanSpacing(points);
  const std::size_t n = points.size();
  std::vector<double> matrix(16 * n * n), solved;
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      const auto block = Block((1 / spacing) * (points[i] - points[j]));
      for (std::size_t k = 0; k < 4; ++k) {
        std::ranges::copy(block[k], matrix.data() + (4 * i + k) * 4 * n + 4 * j);
      }
    }
    const Vec3d& normal = normals[i];
    solved.insert(solved.end(), {0, normal.x, normal.y, normal.z});
  }
  SolveDense(matrix, solved);
  Hrbf fit;
  for (std::size_t j = 0; j < n; ++j) {
    const double* const c = solved.data() + 4 * j;
    fit.centres.push_back(points[j]);
    fit.alpha.push_back(c[0] / (spacing * spacing));
    fit.beta.push_back((-1 / spacing) * Vec3d{c[1], c[2], c[3]});
  }
  for (std::size_t i = 0; i < points.size(); ++i) {
    const HrbfValue value = fit.At(points[i]);
    const Vec3d off = value.gradient - normals[i];
    if (!(std::abs(value.f) <= kMissed * spacing && Dot(off, off) <= kMissed * kMissed)) return {};
  }
  return fit;
}

}  // namespace sinew
