#include "core/surface/surface_point.h"

#include <algorithm>
#include <cmath>

namespace sinew {
namespace {

// Squared sine below which a direction is rounding noise.
constexpr double kParallel = 1e-8;
// Determinant over squared trace of the edges' second moments below which they are collinear.
constexpr double kOneLine = 1e-8;

}  // namespace
bool ExactNormal(const SurfaceFaces& faces, const float* packed, const float* face_normals,
                 std::size_t p, Vec3f& normal) {
  FaceArea area;
  for (std::uint32_t k = faces.face_offset[p]; k < faces.face_offset[p + 1]; ++k) {
    AddFaceArea(faces, packed, face_normals, faces.faces[k], area);
  }
  const double length = std::sqrt(Dot(area.sum, area.sum));
  if (!(length > kSurfaceNoise * area.size)) return false;
  normal = ToFloat((1 / length) * area.sum);
  return true;
}

bool SurfaceNormal(const SurfaceFaces& faces, const float* packed, const float* face_normals,
                   std::size_t p, const float* sum, Vec3f& normal) {
  const float length2 = sum[0] * sum[0] + sum[1] * sum[1] + sum[2] * sum[2];
  const float noise = kSurfaceNoise * sum[3];
  if (!(length2 > kSurfaceSmallest && length2 < kSurfaceLargest && length2 > noise * noise)) {
    return ExactNormal(faces, packed, face_normals, p, normal);
  }
  const float scale = 1.0f / std::sqrt(length2);
  normal = {scale * sum[0], scale * sum[1], scale * sum[2]};
  return true;
}

bool MakeFrame(const float* packed, std::uint32_t at, std::uint32_t neighbour, const Vec3f& n,
               SurfaceFrame& frame) {
  const float* from = packed + std::size_t{at} * 4;
  const float* to = packed + std::size_t{neighbour} * 4;
  Vec3f e = {to[0] - from[0], to[1] - from[1], to[2] - from[2]};
  float size2 = e.x * e.x + e.y * e.y + e.z * e.z;
  if (!(size2 > kSurfaceSmallest && size2 < kSurfaceLargest)) {
    const float scale = 1.0f / std::max({std::abs(e.x), std::abs(e.y), std::abs(e.z)});
    if (!(scale > 0 && scale < kSurfaceLargest)) return false;
    e = {e.x * scale, e.y * scale, e.z * scale};
    size2 = e.x * e.x + e.y * e.y + e.z * e.z;
  }
  const float along = e.x * n.x + e.y * n.y + e.z * n.z;
  const Vec3f t = {e.x - along * n.x, e.y - along * n.y, e.z - along * n.z};
  const float length2 = t.x * t.x + t.y * t.y + t.z * t.z;
  if (!(length2 > kSurfaceSteep * size2)) return false;
  const float unit = 1.0f / std::sqrt(length2);
  frame.tangent = {t.x * unit, t.y * unit, t.z * unit};
  const Vec3f& u = frame.tangent;
  frame.bitangent = {n.y * u.z - n.z * u.y, n.z * u.x - n.x * u.z, n.x * u.y - n.y * u.x};
  return true;
}

Vec3f MovedNormal(const Affine& skin, const Vec3f& normal) {
  const auto row = [&](std::size_t r) {
    return Vec3d{skin.m[r * 4], skin.m[r * 4 + 1], skin.m[r * 4 + 2]};
  };
  const Vec3d n = ToDouble(normal), a = row(0), b = row(1), c = row(2);
  const Vec3d moved = {Dot(Cross(b, c), n), Dot(Cross(c, a), n), Dot(Cross(a, b), n)};
  const double length = std::sqrt(Dot(moved, moved));
  const double size = Dot(a, a) + Dot(b, b) + Dot(c, c);
  return length > 1e-9 * size && std::isfinite(length) ? ToFloat((1 / length) * moved) : normal;
}

bool Orthogonal(const Vec3d& v, const Vec3d& n, Vec3d& unit) {
  const double size2 = Dot(v, v);
  const Vec3d across = v - (Dot(v, n) / Dot(n, n)) * n;
  const double length2 = Dot(across, across);
  if (!(length2 > kParallel * size2) || !std::isfinite(length2)) return false;
  unit = (1 / std::sqrt(length2)) * across;
  return true;
}

Vec3d AnyAcross(const Vec3d& n) {
  const double x = std::abs(n.x), y = std::abs(n.y), z = std::abs(n.z);
  const Vec3d axis = x <= y && x <= z ? Vec3d{1, 0, 0} : y <= z ? Vec3d{0, 1, 0} : Vec3d{0, 0, 1};
  Vec3d unit;
  Orthogonal(axis, n, unit);
  return unit;
}

PlaneWeights FitPlane(std::span<const Vec3d> edges, const Vec3d& x, const Vec3d& y) {
  double xx = 0, xy = 0, yy = 0;
  for (const Vec3d& e : edges) {
    const double ex = Dot(e, x), ey = Dot(e, y), length2 = Dot(e, e);
    const double weight = length2 > 0 ? 1 / length2 : 0;
    xx += weight * ex * ex;
    xy += weight * ex * ey;
    yy += weight * ey * ey;
  }
  PlaneWeights plane;
  if (!(xx * yy - xy * xy > kOneLine * (xx + yy) * (xx + yy))) return plane;
  plane.determinant = xx * yy - xy * xy;
  plane.edges.reserve(edges.size());
  for (const Vec3d& e : edges) {
    const double ex = Dot(e, x), ey = Dot(e, y), length2 = Dot(e, e);
    const double weight = length2 > 0 ? 1 / length2 : 0;
    plane.edges.push_back({weight * (yy * ex - xy * ey), weight * (xx * ey - xy * ex)});
  }
  return plane;
}

}  // namespace sinew
