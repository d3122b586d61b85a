#include "core/geometry/part_triangles.h"

namespace sinew {

double OutsideOf(const Mesh& mesh, const MeshPart& part, std::span<const Vec3d> points) {
  Vec3d middle;
  for (std::uint32_t v = 0; v < part.vertex_count; ++v) {
    middle = middle + (1.0 / part.vertex_count) * points[part.vertex_offset + v];
  }
  double volume = 0;  // six times
  ForEachTriangle(mesh, part, [&](const std::array<std::uint32_t, 3>& t) {
    const Vec3d a = points[t[0]] - middle;
    volume += Dot(a, Cross(points[t[1]] - points[t[0]], points[t[2]] - points[t[0]]));
  });
  return volume < 0 ? -1 : 1;
}

}  // namespace sinew
