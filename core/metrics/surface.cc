#include "core/metrics/surface.h"

namespace sinew::metrics {

Surface Surface::Create(const Rig& rig) {
  const Mesh& mesh = rig.mesh();
  Surface surface;
  surface.welded = Weld(rig);
  surface.rest = surface.Points(mesh.positions());
  surface.diagonal = mesh.diagonal();
  ForEachTriangle(mesh, surface.welded, [&](const Triangle& t, std::uint32_t face) {
    surface.triangles.push_back(t);
    surface.face.push_back(face);
  });
  return surface;
}

std::vector<Vec3d> Surface::Points(std::span<const Vec3f> positions) const {
  std::vector<Vec3d> points;
  points.reserve(welded.points());
  for (const std::uint32_t v : welded.first) points.push_back(ToDouble(positions[v]));
  return points;
}

}  // namespace sinew::metrics
