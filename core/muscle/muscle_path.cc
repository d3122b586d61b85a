#include "core/muscle/muscle_path.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/base/vectors.h"

namespace sinew {
namespace {

constexpr int kArcSteps = 24;  // nodes per arc
constexpr double kTiny = 1e-12;

// Polar coordinates around a circle in the plane of unit vectors e (towards `from`) and f,
// counter-clockwise; height along `axis` is linear in the arc length.
struct Unrolled {
  Vec3d centre, e, f, axis;
  double radius;

  Vec3d Point(double angle, double distance, double height) const {
    return centre + distance * (std::cos(angle) * e + std::sin(angle) * f) + height * axis;
  }
};

// From distance `a` at angle 0 to distance `b` at `angle` (either sign), with height from `low` to
// `high`; a, b >= radius.
void AppendAround(const Unrolled& on, double a, double b, double angle, double low, double high,
                  const Vec3d& to, std::vector<PathNode>& path) {
  const double sign = angle < 0 ? -1 : 1;
  const double leave = std::acos(std::min(1.0, on.radius / a));
  const double arrive = std::acos(std::min(1.0, on.radius / b));
  const double arc = std::abs(angle) - leave - arrive;
  const double rise = high - low, start = path.back().at;
  if (!(arc > 0)) {
    // For an end inside: of its projection to the surface.
    const double plane2 = a * a + b * b - 2 * a * b * std::cos(angle);
    path.push_back({start + std::sqrt(std::max(0.0, plane2) + rise * rise), to});
    return;
  }
  const double first = std::sqrt(std::max(0.0, a * a - on.radius * on.radius));
  const double last = std::sqrt(std::max(0.0, b * b - on.radius * on.radius));
  const double flat = first + on.radius * arc + last;
  const double whole = std::sqrt(flat * flat + rise * rise);
  const double stretch = flat > 0 ? whole / flat : 1;
  for (int k = 0; k <= kArcSteps; ++k) {
    const double turned = arc * k / kArcSteps;
    const double done = first + on.radius * turned;
    path.push_back({start + done * stretch, on.Point(sign * (leave + turned), on.radius,
                                                     low + (flat > 0 ? rise * done / flat : 0))});
  }
  path.push_back({start + whole, to});
}

}  // namespace

Vec3d AnyPerpendicular(const Vec3d& d) {
  const double x = std::abs(d.x), y = std::abs(d.y), z = std::abs(d.z);
  const Vec3d least = x <= y && x <= z ? Vec3d{1, 0, 0} : y <= z ? Vec3d{0, 1, 0} : Vec3d{0, 0, 1};
  const Vec3d across = least - Dot(least, d) * d;
  return (1 / std::max(Length(across), kTiny)) * across;
}

Vec3d Transported(const Vec3d& v, const Vec3d& from, const Vec3d& to) {
  const Vec3d axis = Cross(from, to);
  const double cosine = Dot(from, to);
  if (cosine < -1 + 1e-9) return v;
  return v + Cross(axis, v) + (1 / (1 + cosine)) * Cross(axis, Cross(axis, v));
}

double AngleAbout(const Vec3d& centre, const Vec3d& axis, const Vec3d& a, const Vec3d& b) {
  const Vec3d p = a - centre, q = b - centre;
  const Vec3d flat_p = p - Dot(p, axis) * axis, flat_q = q - Dot(q, axis) * axis;
  return std::atan2(Dot(axis, Cross(flat_p, flat_q)), Dot(flat_p, flat_q));
}

void AppendStraight(const Vec3d& to, std::vector<PathNode>& path) {
  path.push_back({path.back().at + Length(to - path.back().point), to});
}

void AppendWrapped(const Vec3d& to, const WrapSolid& wrap, std::vector<PathNode>& path) {
  using std::numbers::pi;
  const Vec3d p = path.back().point - wrap.centre, q = to - wrap.centre;
  Vec3d axis = wrap.axis;
  if (wrap.shape == WrapShape::kSphere) {
    const Vec3d normal = Cross(p, q);
    const double size = Length(normal);
    // If both ends and the centre are collinear, use the plane of the rest pose.
    if (size > kTiny * (Length(p) * Length(q) + kTiny)) axis = (1 / size) * normal;
    const Vec3d out = p - Dot(p, axis) * axis;
    if (!(Length(out) > kTiny)) axis = AnyPerpendicular((1 / std::max(Length(p), kTiny)) * p);
  }
  const bool flat = wrap.shape == WrapShape::kSphere;
  const double low = flat ? 0 : Dot(p, axis), high = flat ? 0 : Dot(q, axis);
  const Vec3d flat_p = p - Dot(p, axis) * axis, flat_q = q - Dot(q, axis) * axis;
  const double a = Length(flat_p), b = Length(flat_q);
  double angle = AngleAbout(wrap.centre, axis, path.back().point, to);
  if (wrap.shape == WrapShape::kCylinder) {
    const double rest = wrap.mirrored ? -wrap.rest_angle : wrap.rest_angle;
    if (angle < rest - pi) angle += 2 * pi;
    if (angle > rest + pi) angle -= 2 * pi;
  }
  const Vec3d e = a > kTiny ? (1 / a) * flat_p : AnyPerpendicular(axis);
  AppendAround({wrap.centre, e, Cross(axis, e), axis, wrap.radius}, std::max(a, wrap.radius),
               std::max(b, wrap.radius), angle, low, high, to, path);
}

Vec3d PointAt(std::span<const PathNode> path, double at) {
  if (path.size() < 2) return path.front().point;
  // The first leg that ends beyond, or the last non-degenerate one; before the start, the first
  // non-degenerate one.
  std::size_t leg = 0;
  for (std::size_t k = 0; k + 1 < path.size(); ++k) {
    if (path[k + 1].at - path[k].at <= kTiny * path.back().at) continue;
    leg = k;
    if (path[k + 1].at >= at) break;
  }
  const PathNode &from = path[leg], &to = path[leg + 1];
  const double length = to.at - from.at;
  if (!(length > 0)) return from.point;
  return from.point + ((at - from.at) / length) * (to.point - from.point);
}

}  // namespace sinew
