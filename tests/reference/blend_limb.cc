#include "tests/reference/blend_limb.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace sinew::testing {
namespace {

constexpr double kInner = 0.7;

double Kappa(double x) {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  return 1 - std::exp(1 - 1 / (1 - std::exp(1 - 1 / x)));
}

// Border of the union region.
double Opening(double c, double t) {
  if (c <= 0.5) return t * c;
  if (c >= kInner) return c;
  return t / 2 + (c - 0.5) / (kInner - 0.5) * (kInner - t / 2);
}

}  // namespace

double ElbowOpening(double cosine) {
  const double c = std::clamp(cosine, -1.0, 1.0);
  if (c <= 0.7) return 0.43 + 0.57 * Kappa(std::clamp((0.7 - c) / 0.5, 0.0, 1.0));
  // The right control point is beyond 1: divide by the value there.
  return 0.43 + 0.57 * Kappa((c - 0.7) / 0.5) / Kappa(0.6);
}

double ArcBlend(double a, double b, double t) {
  const double high = std::max(a, b), low = std::min(a, b);
  if (high >= kInner || low <= Opening(high, t)) return high;
  double c0 = high, c1 = kInner;
  for (int k = 0; k < 60; ++k) {
    const double c = 0.5 * (c0 + c1), corner = Opening(c, t);
    const double x = std::max(low - corner, 0.0), y = std::max(high - corner, 0.0);
    (std::hypot(x, y) > c - corner ? c0 : c1) = c;
  }
  return 0.5 * (c0 + c1);
}

FieldSample BlendLimb::Blend(const Vec3d& point) const {
  const FieldSample a = Part(0, point), b = Part(1, point);
  const double lengths = std::sqrt(Dot(a.gradient, a.gradient) * Dot(b.gradient, b.gradient));
  const double cosine = lengths > 1e-18 ? Dot(a.gradient, b.gradient) / lengths : 1;
  const double t = std::tan(ElbowOpening(cosine) * std::numbers::pi / 4);
  if (t > 1 - 1e-6) return a.value >= b.value ? a : b;
  // The controller's derivative is ignored in the gradient, by definition of the method.
  const double h = 1e-6;
  const double da =
      (ArcBlend(a.value + h, b.value, t) - ArcBlend(a.value - h, b.value, t)) / (2 * h);
  const double db =
      (ArcBlend(a.value, b.value + h, t) - ArcBlend(a.value, b.value - h, t)) / (2 * h);
  return {ArcBlend(a.value, b.value, t), da * a.gradient + db * b.gradient};
}

void BlendLimb::Evaluate(const PointBlock& points, Contact, FieldBlock& out) const {
  for (std::size_t i = 0; i < kLanes; ++i) {
    const FieldSample sample = Blend({points.x[i], points.y[i], points.z[i]});
    const Vec3f g = ToFloat(sample.gradient);
    out.value[i] = static_cast<float>(sample.value);
    out.x[i] = g.x;
    out.y[i] = g.y;
    out.z[i] = g.z;
  }
}

}  // namespace sinew::testing
