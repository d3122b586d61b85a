#include "core/surface/part_triangles.h"

#include <algorithm>
#include <cmath>

#include "core/base/vectors.h"

namespace sinew {
namespace {

constexpr double kNoNormal = 1e-12;  // a shorter sum of unit normals is rounding

}  // namespace

double OutsideOf(const Mesh& mesh, const MeshPart& part, std::span<const Vec3d> points) {
  Vec3d middle;
  for (std::uint32_t v = 0; v < part.vertex_count; ++v) {
    middle = middle + (1.0 / part.vertex_count) * points[part.vertex_offset + v];
  }
  double volume = 0;  // six times the volume
  ForEachTriangle(mesh, part, [&](const Triangle& t) {
    const Vec3d a = points[t[0]] - middle;
    volume += Dot(a, Cross(points[t[1]] - points[t[0]], points[t[2]] - points[t[0]]));
  });
  return volume < 0 ? -1 : 1;
}

std::vector<std::uint8_t> InsideOut(const Mesh& mesh, std::span<const Vec3d> points) {
  std::vector<std::uint8_t> inside_out(points.size(), 0);
  for (const MeshPart& part : mesh.parts()) {
    if (OutsideOf(mesh, part, points) > 0) continue;
    std::ranges::fill(std::span(inside_out).subspan(part.vertex_offset, part.vertex_count),
                      std::uint8_t{1});
  }
  return inside_out;
}

std::vector<Vec3d> OutwardNormals(const Mesh& mesh, const WeldedPoints& welded,
                                  std::span<const Vec3d> points) {
  std::vector<Vec3d> normals(welded.points());
  for (const MeshPart& part : mesh.parts()) {
    const double outside = OutsideOf(mesh, part, points);
    ForEachTriangle(mesh, part, [&](const Triangle& t) {
      const Vec3d& a = points[t[0]];
      const Vec3d area = outside * Cross(points[t[1]] - a, points[t[2]] - a);
      for (const std::uint32_t v : t) {
        normals[welded.point[v]] = normals[welded.point[v]] + area;
      }
    });
  }
  for (Vec3d& normal : normals) normal = Unit(normal);
  return normals;
}

std::vector<Vec3d> AngleWeightedNormals(std::span<const Triangle> triangles,
                                        std::span<const Vec3d> points) {
  std::vector<Vec3d> normals(points.size());
  for (const Triangle& t : triangles) {
    for (std::size_t k = 0; k < 3; ++k) {
      const Vec3d u = points[t[(k + 1) % 3]] - points[t[k]];
      const Vec3d v = points[t[(k + 2) % 3]] - points[t[k]];
      const Vec3d cross = Cross(u, v);
      const double area = Length(cross);
      if (!(area > 0)) continue;
      normals[t[k]] = normals[t[k]] + (std::atan2(area, Dot(u, v)) / area) * cross;
    }
  }
  for (Vec3d& normal : normals) normal = Length(normal) > kNoNormal ? Unit(normal) : Vec3d{};
  return normals;
}

}  // namespace sinew
