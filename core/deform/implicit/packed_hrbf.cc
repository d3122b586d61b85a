#include "core/deform/implicit/packed_hrbf.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <vector>

#include "core/base/vectors.h"

namespace sinew {
namespace {

// r relative to the largest distance between centres: errors of l are scaled by the slope at the
// far end.
constexpr double kFactored = 0.9;

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

void AppendPacked(const Hrbf& fit, AlignedVector<float>& centres,
                  AlignedVector<float>& polynomials) {
  const double distance = LargestDistance(fit);
  const auto rounded = [](double v) { return double{static_cast<float>(v)}; };
  const double r = rounded(distance > 0 ? kFactored * distance : 1);
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
