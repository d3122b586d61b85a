#include "core/surface/surface_point.h"

#include <algorithm>
#include <cmath>

namespace sinew {
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

}  // namespace sinew
