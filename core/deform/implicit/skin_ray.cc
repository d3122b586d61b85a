#include "core/deform/implicit/skin_ray.h"

#include "core/base/vectors.h"

namespace sinew {

SkinHit SkinAlong(const LimbSurface& surface, std::span<const std::uint32_t> triangles,
                  const Vec3d& from, const Vec3d& direction) {
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

AxesAround::AxesAround(const Vec3d& axis) : along(axis) {
  const Vec3d across = std::abs(axis.x) < 0.6 ? Vec3d{1, 0, 0} : Vec3d{0, 1, 0};
  u = Unit(Cross(axis, across));
  v = Cross(axis, u);
}

}  // namespace sinew
