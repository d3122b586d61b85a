#include "tests/reference/muscle_reference.h"

#include <algorithm>
#include <cmath>

namespace sinew::reference {

MuscleField EllipsoidField(const Vec3d& p, const Vec3d& r) {
  const Vec3d q1 = {p.x / r.x, p.y / r.y, p.z / r.z};
  const Vec3d q2 = {q1.x / r.x, q1.y / r.y, q1.z / r.z};
  const Vec3d q4 = {q2.x / r.x / r.x, q2.y / r.y / r.y, q2.z / r.z / r.z};
  const double k0 = std::sqrt(Dot(q1, q1)), k1 = std::sqrt(Dot(q2, q2));
  return {k0 * (k0 - 1) / k1, (2 * k0 - 1) / (k0 * k1) * q2 - k0 * (k0 - 1) / (k1 * k1 * k1) * q4};
}

namespace {

double Spindle(const Vec3d& p, double length, double radius, MuscleProfile profile, double warp) {
  const double u = std::clamp(p.x / length, 0.0, 1.0), beyond = p.x - u * length;
  const double distance = std::sqrt(p.y * p.y + p.z * p.z + beyond * beyond);
  const double slope = radius / length * ProfileSlope(profile, warp, u);
  return (distance - radius * ProfileRadius(profile, warp, u)) / std::sqrt(1 + slope * slope);
}

}  // namespace

MuscleField SpindleField(const Vec3d& p, double length, double radius, MuscleProfile profile,
                         double warp) {
  const auto at = [&](const Vec3d& q) { return Spindle(q, length, radius, profile, warp); };
  const double h = 1e-6 * length;
  const auto slope = [&](const Vec3d& d) { return (at(p + d) - at(p - d)) / (2 * h); };
  return {at(p), {slope({h, 0, 0}), slope({0, h, 0}), slope({0, 0, h})}};
}

double Compact(double f, double r) {
  const double x = std::clamp(f / r, -1.0, 1.0);
  return ((-3.0 / 16 * x * x + 5.0 / 8) * x * x - 15.0 / 16) * x + 0.5;
}

}  // namespace sinew::reference
