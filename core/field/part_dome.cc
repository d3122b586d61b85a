#include "core/field/part_dome.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <ranges>
#include <span>

#include "core/base/vectors.h"

namespace sinew {
namespace {

constexpr double kRingTilt = std::numbers::pi / 6;    // of the ring, from the section to the top
constexpr double kThinnest = 0.3;                     // a dome, of the part's flesh
constexpr std::size_t kLevels = 5, kDirections = 12;  // of rays that look for the skin
constexpr double kHighest = 0.9;                      // sine of the steepest of them
constexpr double kAhead = 0.3;  // cosine between a ray and the normal of skin that it leaves by

// The skin nearest along a ray; edges count.
struct SkinHit {
  double distance = INFINITY;  // none
  Vec3d normal;
};
template <class Triangles>  // numbers
SkinHit SkinAlong(const LimbSurface& surface, const Triangles& triangles, const Vec3d& from,
                  const Vec3d& direction) {
  constexpr double kEdge = 1e-6;
  SkinHit nearest;
  for (const std::uint32_t i : triangles) {
    const Corners& t = surface.triangles[i];
    const Vec3d a = surface.points[t[0]], ab = surface.points[t[1]] - a,
                ac = surface.points[t[2]] - a, p = Cross(direction, ac);
    const double det = Dot(ab, p);
    if (std::abs(det) <= 1e-12 * Length(ab) * Length(ac)) continue;
    const Vec3d s = from - a, q = Cross(s, ab);
    const double u = Dot(s, p) / det, v = Dot(direction, q) / det, at = Dot(ac, q) / det;
    if (!(u >= -kEdge && v >= -kEdge && u + v <= 1 + kEdge && at > 0)) continue;
    if (!(at < nearest.distance)) continue;
    nearest = {at, Unit((1 - u - v) * surface.normals[t[0]] + u * surface.normals[t[1]] +
                        v * surface.normals[t[2]])};
  }
  return nearest;
}

// Triangles that may reach into a ball.
std::vector<std::uint32_t> TrianglesNear(const LimbSurface& surface, const Vec3d& centre,
                                         double radius) {
  std::vector<std::uint32_t> near;
  for (std::uint32_t i = 0; i < surface.triangles.size(); ++i) {
    const Corners& t = surface.triangles[i];
    const Vec3d& a = surface.points[t[0]];
    const double size =
        std::max(Length(surface.points[t[1]] - a), Length(surface.points[t[2]] - a));
    if (Length(a - centre) <= radius + size) near.push_back(i);
  }
  return near;
}

// Directions across and along an end of a bone.
struct Axes {
  explicit Axes(const Vec3d& outward_of) : outward(outward_of) {
    const Vec3d across = std::abs(outward.x) < 0.6 ? Vec3d{1, 0, 0} : Vec3d{0, 1, 0};
    u = Unit(Cross(outward, across));
    v = Cross(outward, u);
  }
  Vec3d Side(double angle) const { return std::cos(angle) * u + std::sin(angle) * v; }
  Vec3d outward, u, v;
};

// The largest ball about the end that the skin has room for, up to `rho`.
double RoomAt(const LimbSurface& surface, std::span<const std::uint32_t> near, const Vec3d& end,
              const Axes& axes, double least, double rho, const Task& task) {
  for (std::size_t i = 0; i < kLevels; ++i) {
    const double sine = kHighest * (2.0 * static_cast<double>(i) / (kLevels - 1) - 1);
    const double cosine = std::sqrt(1 - sine * sine);
    for (std::size_t k = 0; k < kDirections && !task.cancelled(); ++k) {
      // Every other level is turned by half a step.
      const double step = static_cast<double>(k) + 0.5 * static_cast<double>(i % 2);
      const Vec3d way =
          sine * axes.outward + cosine * axes.Side(2 * std::numbers::pi * step / kDirections);
      const SkinHit hit = SkinAlong(surface, near, end, way);
      if (hit.distance < rho && Dot(hit.normal, way) > kAhead) rho = std::max(hit.distance, least);
    }
  }
  return rho;
}

}  // namespace

bool Constraints::IsFree(const Vec3d& point, double distance) const {
  return std::ranges::none_of(points, [&](const Vec3d& p) { return Length(p - point) < distance; });
}

void AddDome(const LimbSurface& surface, const LimbBone& bone, const Vec3d& centre, BoneEnd at,
             Constraints& constraints, const Task& task) {
  const Vec3d end = at == BoneEnd::kRoot ? bone.root : bone.tip;
  const double wide = at == BoneEnd::kRoot ? bone.rho_root : bone.rho_tip;
  const Axes axes(at == BoneEnd::kRoot ? -1.0 * bone.direction : bone.direction);
  const auto own_skin = std::views::iota(surface.triangle_offset[bone.joint],
                                         surface.triangle_offset[bone.joint + 1]);
  const Vec3d middle = 0.5 * (bone.root + bone.tip);
  if (SkinAlong(surface, own_skin, middle, axes.outward).distance < INFINITY) return;

  const std::vector<std::uint32_t> near = TrianglesNear(surface, end, 2 * wide);
  const double rho =
      RoomAt(surface, near, end, axes, std::min(kThinnest * bone.flesh, wide), wide, task);
  const auto add = [&](const Vec3d& point, const Vec3d& normal) {
    const Vec3d p = (1 / bone.radius) * (point - centre);
    if (constraints.IsFree(p, 0.25 * rho / bone.radius)) constraints.Add(p, Unit(normal));
  };
  const auto fits = [&](double width) { return width >= 0.5 * rho && width <= 2 * rho; };
  add(end + rho * axes.outward, axes.outward);
  for (std::size_t k = 0; k < kDomeRing && !task.cancelled(); ++k) {
    const Vec3d side = axes.Side(2 * std::numbers::pi * static_cast<double>(k) / kDomeRing);
    const Vec3d before = end - (0.25 * rho) * axes.outward;
    if (!fits(SkinAlong(surface, own_skin, before, side).distance)) {
      SkinHit section = SkinAlong(surface, near, end, side);
      const bool limb = fits(section.distance) && Dot(section.normal, side) > 0.5;
      if (!limb) section = {rho, side};
      add(end + section.distance * side, section.normal);
    }
    const Vec3d ring = std::sin(kRingTilt) * axes.outward + std::cos(kRingTilt) * side;
    add(end + rho * ring, ring);
  }
}

}  // namespace sinew
