#include "core/deform/implicit/part_sides.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <vector>

#include "core/base/vectors.h"
#include "core/deform/implicit/skin_ray.h"

namespace sinew {
namespace {

// Half the length of a ring's slice of the bone's skin, times the median radius.
constexpr double kSlice = 0.6;
constexpr double kBeside = 0.9;  // cosine between a side direction and skin in it
constexpr double kNarrowest = 0.5,
                 // Limits of a side's distance, relative to the smallest around the bone.
    kWidest = 4;
constexpr double kFlat = 2;     // from this relative distance on, a ring needs twice as many points
constexpr double kApart = 0.3;  // relative distance from existing constraints

// Extent of the skin to one side of the bone's axis at `at`; 0 = none.
double ReachOf(std::span<const SurfaceSample> skin, const LimbBone& bone, const Vec3d& at,
               const Vec3d& side) {
  double reach = 0;
  for (const SurfaceSample& s : skin) {
    const Vec3d d = s.point - at;
    const double along = Dot(d, bone.direction);
    if (std::abs(along) > kSlice * bone.flesh) continue;
    const double aside = Dot(d, side);
    if (aside > kBeside * Length(d - along * bone.direction)) reach = std::max(reach, aside);
  }
  return reach;
}

}  // namespace

void AddSides(const LimbSurface& surface, const LimbBone& bone, std::span<const SurfaceSample> skin,
              const Vec3d& centre, Constraints& constraints, const Task& task) {
  std::vector<std::uint32_t> own;
  for (const LimbSurface::Skin& s : surface.SkinOf(bone.joint)) own.push_back(s.triangle);
  const AxesAround axes(bone.direction);
  const Vec3d along = bone.tip - bone.root;
  const auto rings = static_cast<std::size_t>(
      std::clamp<double>(std::round(Length(along) / bone.flesh), 1, kMaxRings));
  // Rings, and halfway between them, where the field of a flat part would continue.
  for (std::size_t place = 1; place < 2 * rings && !task.cancelled(); ++place) {
    const Vec3d at =
        bone.root + (0.5 * static_cast<double>(place) / static_cast<double>(rings)) * along;
    const auto side = [&](std::size_t k) {
      return axes.Side(2 * std::numbers::pi * static_cast<double>(k) / kSideRing);
    };
    std::array<double, kSideRing> distance;
    for (std::size_t k = 0; k < kSideRing; ++k) {
      distance[k] = SkinAlong(surface, own, at, side(k)).distance;
    }
    const double thinnest = *std::ranges::min_element(distance);
    if (thinnest == INFINITY) continue;  // the bone is outside its skin
    for (std::size_t k = 0; k < kSideRing; ++k) {
      if (distance[k] < INFINITY) continue;
      const double reach = ReachOf(skin, bone, at, side(k));
      const double end =
          reach > 0 ? std::clamp(reach, kNarrowest * thinnest, kWidest * thinnest) : thinnest;
      if (place % 2 == 0 && end < kFlat * thinnest) continue;
      const Vec3d p = (1 / bone.radius) * (at + end * side(k) - centre);
      if (constraints.IsFree(p, kApart * thinnest / bone.radius)) constraints.Add(p, side(k));
    }
  }
}

}  // namespace sinew
