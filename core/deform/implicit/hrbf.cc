#include "core/deform/implicit/hrbf.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "core/base/vectors.h"
#include "core/deform/implicit/constants.h"
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

double LargestDistance(const Hrbf& fit) {
  double largest2 = 0;
  for (const Vec3d& a : fit.centres) {
    for (const Vec3d& b : fit.centres) largest2 = std::max(largest2, Dot(a - b, a - b));
  }
  return std::sqrt(largest2);
}

// An order of the centres that keeps partial sums, starting with the polynomial, small all over the
// part.
std::vector<std::size_t> OrderForSums(const Hrbf& fit, double r) {
  constexpr std::size_t kProbes = 48;
  const std::size_t n = fit.size(), probes = std::min(n, kProbes);
  // Each centre's term at some of the centres, where the total is 0: [n][probes].
  std::vector<double> terms(n * probes), sums(probes);
  for (std::size_t j = 0; j < n; ++j) {
    for (std::size_t k = 0; k < probes; ++k) {
      const Vec3d d = fit.centres[k * n / probes] - fit.centres[j];
      const double l = std::sqrt(Dot(d, d)), v = l - r;
      const double term = v * (3 * Dot(fit.beta[j], d) - fit.alpha[j] / (2 * r) * l * l * v);
      terms[j * probes + k] = term;
      sums[k] -= term;
    }
  }
  std::vector<std::size_t> left(n), order;
  std::iota(left.begin(), left.end(), std::size_t{0});
  while (!left.empty()) {
    const auto size = [&](std::size_t j) {
      double size2 = 0;
      for (std::size_t k = 0; k < probes; ++k) {
        const double sum = sums[k] + terms[j * probes + k];
        size2 += sum * sum;
      }
      return size2;
    };
    const auto best = std::ranges::min_element(left, {}, size);
    for (std::size_t k = 0; k < probes; ++k) sums[k] += terms[*best * probes + k];
    order.push_back(*best);
    left.erase(best);
  }
  return order;
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

void AppendPacked(const Hrbf& fit, AlignedVector<float>& centres,
                  AlignedVector<float>& polynomials) {
  const double distance = LargestDistance(fit);
  const auto rounded = [](double v) { return double{static_cast<float>(v)}; };
  const double r = rounded(distance > 0 ? kFactoredDistance * distance : 1);
  double quartic = 0, constant = 0, square = 0;
  Vec3d cubic, linear;
  std::array<double, 6> matrix{};
  for (const std::size_t k : OrderForSums(fit, r)) {
    const Vec3d c = ToDouble(ToFloat(fit.centres[k]));
    const Vec3d b = ToDouble(ToFloat(3.0 * fit.beta[k]));
    const double a = rounded(-fit.alpha[k] / (2 * r));
    for (const double v : {c.x, c.y, c.z, a, b.x, b.y, b.z, 0.0}) {
      centres.push_back(static_cast<float>(v));
    }
    // -a (s^2 + r^2 s) + r b . (u - c) with s = |u - c|^2, expanded in powers of u.
    const double cc = Dot(c, c), rr = r * r;
    const std::array<double, 3> at = {c.x, c.y, c.z};
    quartic -= a;
    cubic = cubic + (4 * a) * c;
    square -= a * (2 * cc + rr);
    for (std::size_t i = 0; i < 3; ++i) {
      matrix[i] -= 4 * a * at[i] * at[i];
      matrix[3 + i] -= 4 * a * at[(i + 1) % 3] * at[(i + 2) % 3];
    }
    linear = linear + (2 * a * (2 * cc + rr)) * c + r * b;
    constant -= a * cc * (cc + rr) + r * Dot(b, c);
  }
  for (std::size_t i = 0; i < 3; ++i) matrix[i] += square;
  const std::array<double, kPolynomialFloats> packed = {
      quartic,   cubic.x,   cubic.y,  cubic.z,  matrix[0], matrix[1], matrix[2], matrix[3],
      matrix[4], matrix[5], linear.x, linear.y, linear.z,  constant,  r,         0};
  for (const double v : packed) polynomials.push_back(static_cast<float>(v));
}

}  // namespace sinew
