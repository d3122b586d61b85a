#include "tests/reference/normals_reference.h"

#include <cmath>
#include <map>
#include <set>

namespace sinew::reference {

std::vector<Vec3d> Normals(const Mesh& mesh, std::span<const std::uint32_t> point,
                           std::span<const Vec3d> positions) {
  std::map<std::uint32_t, Vec3d> sums;
  for (std::size_t f = 0; f < mesh.faces(); ++f) {
    const std::size_t begin = mesh.face_offsets()[f], end = mesh.face_offsets()[f + 1];
    const Vec3d origin = positions[mesh.face_vertices()[begin]];
    Vec3d area;
    std::set<std::uint32_t> touched;
    for (std::size_t c = begin; c < end; ++c) {
      const std::size_t next = c + 1 < end ? c + 1 : begin;
      const std::uint32_t a = mesh.face_vertices()[c], b = mesh.face_vertices()[next];
      area = area + Cross(positions[a] - origin, positions[b] - origin);
      touched.insert(point[a]);
    }
    for (const std::uint32_t p : touched) sums[p] = sums[p] + area;
  }
  std::vector<Vec3d> normals(positions.size());
  for (std::size_t v = 0; v < normals.size(); ++v) {
    const Vec3d n = sums[point[v]];
    const double length = std::sqrt(Dot(n, n));
    if (length > 0) normals[v] = (1 / length) * n;
  }
  return normals;
}

}  // namespace sinew::reference
