#include "core/geometry/surface_point.h"

#include <algorithm>
#include <cmath>

#include "core/geometry/normals_kernel.h"

namespace sinew {
namespace {

// A sum of area vectors shorter than this part of the squared lengths it came from is rounding
// noise.
constexpr float kDegenerate = 4e-6f;
// Squared lengths between which float32 neither overflows nor loses terms that count.
constexpr float kSmallest = 1e-30f, kLargest = 1e34f;
// Squared sine of the angle between normal and edge below which the edge has no direction along the
// surface.
constexpr float kSteep = 1e-8f;

constexpr std::size_t kBlockGrain = 1024;
constexpr std::size_t kFaceGrain = 8192;

Vec3d PackedPoint(const float* packed, std::size_t lane) {
  return {packed[lane * 4], packed[lane * 4 + 1], packed[lane * 4 + 2]};
}

std::span<const std::uint32_t> Corners(const NormalTables& tables, std::size_t face) {
  const std::size_t triangles = tables.triangles.size() / 3, quads = tables.quads.size() / 4;
  if (face < triangles) return std::span(tables.triangles).subspan(face * 3, 3);
  face -= triangles;
  if (face < quads) return std::span(tables.quads).subspan(face * 4, 4);
  const std::uint32_t begin = tables.polygon_offset[face - quads];
  const std::uint32_t end = tables.polygon_offset[face - quads + 1];
  return std::span(tables.polygons).subspan(begin, end - begin);
}

// In double, whose range holds the squares of any float32.
bool ExactNormal(const NormalTables& tables, const float* packed, std::size_t p, Vec3f& normal) {
  Vec3d sum;
  double size = 0;
  for (std::uint32_t k = tables.face_offset[p]; k < tables.face_offset[p + 1]; ++k) {
    const auto corners = Corners(tables, tables.faces[k]);
    const Vec3d origin = PackedPoint(packed, corners[0]);
    Vec3d last = PackedPoint(packed, corners[1]) - origin;
    for (std::size_t c = 2; c < corners.size(); ++c) {
      const Vec3d next = PackedPoint(packed, corners[c]) - origin;
      sum = sum + Cross(last, next);
      size += Dot(last, last) + Dot(next, next);
      last = next;
    }
  }
  const double length = std::sqrt(Dot(sum, sum));
  if (!(length > kDegenerate * size)) return false;
  normal = ToFloat((1 / length) * sum);
  return true;
}

}  // namespace

void FillFaceNormals(const NormalTables& tables, std::span<const PointBlock> positions,
                     std::span<float> packed, std::span<float> normals, const Task& task) {
  task.For(positions.size(), kBlockGrain, [&](std::size_t begin, std::size_t end) {
    PackPointsKernel(positions.front().x, packed.data(), begin, end);
  });
  const std::size_t triangles = tables.triangles.size() / 3, quads = tables.quads.size() / 4;
  task.For(triangles, kFaceGrain, [&](std::size_t begin, std::size_t end) {
    TriangleNormalsKernel(tables.triangles.data(), packed.data(), normals.data(), begin, end);
  });
  task.For(quads, kFaceGrain, [&](std::size_t begin, std::size_t end) {
    QuadNormalsKernel(tables.quads.data(), packed.data(), normals.data() + triangles * 4, begin,
                      end);
  });
  const std::size_t polygons = tables.polygon_offset.size() - 1;
  task.For(polygons, kFaceGrain, [&](std::size_t begin, std::size_t end) {
    PolygonNormalsKernel(tables.polygon_offset.data(), tables.polygons.data(), packed.data(),
                         normals.data() + (triangles + quads) * 4, begin, end);
  });
}

bool SurfaceNormal(const NormalTables& tables, const float* packed, std::size_t p, const float* sum,
                   Vec3f& normal) {
  const float length2 = sum[0] * sum[0] + sum[1] * sum[1] + sum[2] * sum[2];
  const float noise = kDegenerate * sum[3];
  if (!(length2 > kSmallest && length2 < kLargest && length2 > noise * noise)) {
    return ExactNormal(tables, packed, p, normal);
  }
  const float scale = 1.0f / std::sqrt(length2);
  normal = {scale * sum[0], scale * sum[1], scale * sum[2]};
  return true;
}

bool MakeFrame(const float* packed, std::uint32_t lane, std::uint32_t neighbour, const Vec3f& n,
               SurfaceFrame& frame) {
  const float* from = packed + std::size_t{lane} * 4;
  const float* to = packed + std::size_t{neighbour} * 4;
  Vec3f e = {to[0] - from[0], to[1] - from[1], to[2] - from[2]};
  float size2 = e.x * e.x + e.y * e.y + e.z * e.z;
  if (!(size2 > kSmallest && size2 < kLargest)) {
    const float scale = 1.0f / std::max({std::abs(e.x), std::abs(e.y), std::abs(e.z)});
    if (!(scale > 0 && scale < kLargest)) return false;
    e = {e.x * scale, e.y * scale, e.z * scale};
    size2 = e.x * e.x + e.y * e.y + e.z * e.z;
  }
  const float along = e.x * n.x + e.y * n.y + e.z * n.z;
  const Vec3f t = {e.x - along * n.x, e.y - along * n.y, e.z - along * n.z};
  const float length2 = t.x * t.x + t.y * t.y + t.z * t.z;
  if (!(length2 > kSteep * size2)) return false;
  const float unit = 1.0f / std::sqrt(length2);
  frame.tangent = {t.x * unit, t.y * unit, t.z * unit};
  const Vec3f& u = frame.tangent;
  frame.bitangent = {n.y * u.z - n.z * u.y, n.z * u.x - n.x * u.z, n.x * u.y - n.y * u.x};
  return true;
}

}  // namespace sinew
