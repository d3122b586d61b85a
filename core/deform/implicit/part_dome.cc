#include "core/deform/implicit/part_dome.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <span>
#include <vector>

#include "core/base/vectors.h"
#include "core/deform/implicit/skin_ray.h"

namespace sinew {
namespace {

// Elevation of the ring between section and top. If higher, the fit leaves the ball between ring
// and section; if lower, between ring and top.
constexpr double kRingTilt = std::numbers::pi / 9;
constexpr double kThinnest = 0.3;  // minimum size of an end cap, relative to the median radius
constexpr std::size_t kLevels = 5, kDirections = 12;  // rays that search the skin
constexpr double kHighest = 0.9;                      // sine of the steepest ray

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

// Radius of the largest ball about the end that fits into the skin, at most `rho`.
double RoomAt(const LimbSurface& surface, std::span<const std::uint32_t> near, const Vec3d& end,
              const AxesAround& axes, double least, double rho, const Task& task) {
  for (std::size_t i = 0; i < kLevels; ++i) {
    const double sine = kHighest * (2.0 * static_cast<double>(i) / (kLevels - 1) - 1);
    const double cosine = std::sqrt(1 - sine * sine);
    for (std::size_t k = 0; k < kDirections && !task.cancelled(); ++k) {
      // Every other level is rotated by half a step.
      const double step = static_cast<double>(k) + 0.5 * static_cast<double>(i % 2);
      const Vec3d way =
          sine * axes.along + cosine * axes.Side(2 * std::numbers::pi * step / kDirections);
      const SkinHit hit = SkinAlong(surface, near, end, way);
      if (hit.distance < rho) rho = std::max(hit.distance, least);
    }
  }
  return rho;
}

}  // namespace

void AddDome(const LimbSurface& surface, const LimbBone& bone, const Vec3d& centre, BoneEnd at,
             Constraints& constraints, const Task& task) {
  const Vec3d end = at == BoneEnd::kRoot ? bone.root : bone.tip;
  const AxesAround axes(at == BoneEnd::kRoot ? bone.out_root : bone.out_tip);
  std::vector<std::uint32_t> own_skin;
  for (const LimbSurface::Skin& s : surface.SkinOf(bone.joint)) {
    const bool whole = std::ranges::all_of(surface.triangles[s.triangle], [&](std::uint32_t v) {
      return surface.joint[v] == bone.joint;
    });
    if (whole) own_skin.push_back(s.triangle);
  }
  const Vec3d middle = 0.5 * (bone.root + bone.tip);
  if (SkinAlong(surface, own_skin, middle, axes.along).distance < INFINITY) return;

  const std::vector<std::uint32_t> near = TrianglesNear(surface, end, 2 * bone.flesh);
  const double rho = RoomAt(surface, near, end, axes, kThinnest * bone.flesh, bone.flesh, task);
  const auto add = [&](const Vec3d& point, const Vec3d& normal) {
    const Vec3d p = (1 / bone.radius) * (point - centre);
    if (constraints.IsFree(p, 0.25 * rho / bone.radius)) constraints.Add(p, Unit(normal));
  };
  const auto fits = [&](double width) { return width >= 0.5 * rho && width <= 2 * rho; };
  add(end + rho * axes.along, axes.along);
  for (std::size_t k = 0; k < kDomeRing && !task.cancelled(); ++k) {
    const Vec3d side = axes.Side(2 * std::numbers::pi * static_cast<double>(k) / kDomeRing);
    const Vec3d before = end - (0.25 * rho) * axes.along;
    if (!fits(SkinAlong(surface, own_skin, before, side).distance)) {
      SkinHit section = SkinAlong(surface, near, end, side);
      const bool limb = fits(section.distance) && Dot(section.normal, side) > 0.5;
      if (!limb) section = {rho, side};
      add(end + section.distance * side, section.normal);
    }
    const Vec3d ring = std::sin(kRingTilt) * axes.along + std::cos(kRingTilt) * side;
    add(end + rho * ring, ring);
  }
}

}  // namespace sinew
