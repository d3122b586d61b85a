#include "core/deform/implicit/field/field_operators.h"

#include <algorithm>
#include <cmath>

namespace sinew {
namespace {

constexpr double kUnion = 1 - 1e-6;  // t from which an opening counts as closed
constexpr double kSlack = 1e-7;      // relative to a root's range
constexpr int kBisections = 44;

Composed Union(double hi) {
  return {hi, 0, 1};
}

// k = m C + q: the border of a diamond above 1/2.
struct Line {
  double m, q;
};
Line UpperLine(double t, double inner) {
  const double m = (inner - 0.5 * t) / (inner - 0.5);
  return {m, 0.5 * t - 0.5 * m};
}

struct Opening {
  double k, slope;
};

Opening Diamond(double c, double t, double inner) {
  if (c <= 0.5) return {t * c, t};
  const Line line = UpperLine(t, inner);
  return {line.m * c + line.q, line.m};
}

Opening Parabola(double c) {
  if (c <= 0.5) return {2 * c * c, 4 * c};
  const double k = std::sqrt(0.5 * c);
  return {k, 0.25 / k};
}

// Solves |(lo - k, hi - k)| = (C - k) rho, k = k(C), for hi <= C <= most by bisection with a fixed
// number of steps: the same bits everywhere.
template <class OpeningAt, class RhoAt>
Composed Solve(double lo, double hi, double most, OpeningAt opening, RhoAt rho_at) {
  double low = hi, high = most;
  for (int i = 0; i < kBisections; ++i) {
    const double c = 0.5 * (low + high), k = opening(c).k;
    const double a = std::max(lo - k, 0.0), b = std::max(hi - k, 0.0);
    const double rho = rho_at(b > 0 ? std::min(a / b, 1.0) : 1.0, nullptr);
    (a * a + b * b > (c - k) * (c - k) * rho * rho && c > k ? low : high) = c;
  }
  const double c = 0.5 * (low + high);
  const Opening at = opening(c);
  const double a = lo - at.k, b = hi - at.k, n = std::hypot(a, b);
  if (!(a > 0 && b > 0)) return Union(hi);
  double slope = 0;
  const double rho = rho_at(std::min(a / b, 1.0), &slope);
  const double to_lo = a / n - (c - at.k) * slope / b;
  const double to_hi = b / n + (c - at.k) * slope * a / (b * b);
  const double den = at.slope * (to_lo + to_hi) + (1 - at.slope) * rho;
  if (!(std::abs(den) > 1e-12)) return Union(hi);
  return {c, to_lo / den, to_hi / den};
}

double CircleRho(double /*tan*/, double* /*derivative*/) {
  return 1;
}

}  // namespace

Composed BlendFields(double lo, double hi, double t) {
  // For parallel gradients t rounds to just below 1, and the last step would be 0 / 0.
  if (hi >= kBlendInner || t > kUnion || lo <= Diamond(hi, t, kBlendInner).k) return Union(hi);
  const double off = 0.5 * t, span = 0.5 - off, above_lo = std::max(lo - off, 0.0);
  const bool upper = hi > off && above_lo * above_lo + (hi - off) * (hi - off) > span * span;
  const Line line = upper ? UpperLine(t, kBlendInner) : Line{t, 0};
  const double m = line.m, q = line.q, l = lo - q, h = hi - q;
  const double a = 2 * m * m - (1 - m) * (1 - m), b = -2 * m * (l + h) + 2 * (1 - m) * q,
               d = l * l + h * h - q * q;
  const double root = std::sqrt(std::max(b * b - 4 * a * d, 0.0));
  const double w = -0.5 * (b + (b < 0 ? -root : root));
  const double least = (upper ? std::max(hi, 0.5) : hi) - kSlack;
  const double most = (upper ? kBlendInner : 0.5) + kSlack;
  double c = most + 1;
  const auto consider = [&](double candidate) {
    if (candidate >= least && candidate <= most) c = std::min(c, candidate);
  };
  if (std::abs(a) > 1e-12) consider(w / a);
  if (std::abs(w) > 1e-12) consider(d / w);
  if (c > most) return Union(hi);
  c = std::max(c, hi);
  const double k = m * c + q, den = m * (lo + hi - 2 * k) + (c - k) * (1 - m);
  if (!(den > 0)) return Union(hi);
  return {c, (lo - k) / den, (hi - k) / den};
}

Composed CleanUnionFields(double lo, double hi) {
  if (lo <= Parabola(hi).k) return Union(hi);
  const Composed solved = Solve(lo, hi, 1.2, Parabola, CircleRho);
  return solved.g <= 1 ? solved : Composed{1, 0, 0};
}

std::vector<double> BulgeProfile::MakeTable(double m) {
  std::vector<double> table(kTable);
  const auto y = [m](double s) { return s > 0 ? 1 - m * std::exp(1 - 1 / s) * (1 - s) : 1.0; };
  for (std::size_t i = 0; i <= kIntervals; ++i) {
    const double tan = static_cast<double>(i) / kIntervals;
    double low = 0, high = 1;
    for (int k = 0; k < kBisections; ++k) {
      const double s = 0.5 * (low + high);
      (s < tan * y(s) ? low : high) = s;
    }
    const double s = i == kIntervals ? 1 : 0.5 * (low + high), at = y(s);
    const double slope = s > 0 ? m * std::exp(1 - 1 / s) * (1 - (1 - s) / (s * s)) : 0;
    table[2 * i] = std::hypot(s, at);
    table[2 * i + 1] = (s + at * slope) / table[2 * i] * at * at / (at - s * slope);
  }
  return table;
}

double BulgeProfile::Rho(double tan, double* derivative) const {
  const double at = std::clamp(tan, 0.0, 1.0) * kIntervals;
  const auto i = std::min(static_cast<std::size_t>(at), kIntervals - 1);
  const double u = at - static_cast<double>(i), step = 1.0 / kIntervals;
  const double from = table_[2 * i], rise = table_[2 * i + 2] - from;
  const double left = table_[2 * i + 1] * step, right = table_[2 * i + 3] * step;
  // Hermite: from + u (left + u (c + u d)).
  const double c = 3 * rise - 2 * left - right, d = left + right - 2 * rise;
  if (derivative != nullptr) *derivative = (left + u * (2 * c + 3 * u * d)) / step;
  return from + u * (left + u * (c + u * d));
}

Composed BulgeFields(double lo, double hi, double t, const BulgeProfile& profile) {
  if (hi >= kBulgeInner || t > kUnion || lo <= Diamond(hi, t, kBulgeInner).k) return Union(hi);
  return Solve(
      lo, hi, kBulgeInner, [&](double c) { return Diamond(c, t, kBulgeInner); },
      [&](double tan, double* derivative) { return profile.Rho(tan, derivative); });
}

}  // namespace sinew
