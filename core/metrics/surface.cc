#include "core/metrics/surface.h"

namespace sinew::metrics {

Surface Surface::Create(const Rig& rig) {
  const Mesh& mesh = rig.mesh();
  Surface surface;
  surface.welded = Weld(rig);
  surface.rest = surface.Points(mesh.positions());
  surface.diagonal = mesh.diagonal();
  const std::span<const std::uint32_t> corners = mesh.face_vertices();
  for (std::uint32_t f = 0; f < mesh.faces(); ++f) {
    const std::uint32_t begin = mesh.face_offsets()[f], end = mesh.face_offsets()[f + 1];
    const auto point = [&](std::uint32_t k) { return surface.welded.point[corners[k]]; };
    for (std::uint32_t k = begin + 1; k + 1 < end; ++k) {
      const Triangle t = {point(begin), point(k), point(k + 1)};
      if (t[0] == t[1] || t[1] == t[2] || t[2] == t[0]) continue;
      surface.triangles.push_back(t);
      surface.face.push_back(f);
    }
  }
  return surface;
}

std::vector<Vec3d> Surface::Points(std::span<const Vec3f> positions) const {
  std::vector<Vec3d> points;
  points.reserve(welded.points());
  for (const std::uint32_t v : welded.first) points.push_back(ToDouble(positions[v]));
  return points;
}

}  // namespace sinew::metrics
