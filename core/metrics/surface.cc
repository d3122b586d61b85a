#include "core/metrics/surface.h"

namespace sinew::metrics {
namespace {

constexpr double kNoLength = 1e-9;  // of the diagonal

}  // namespace

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
  const Adjacency neighbours = PolygonNeighbours(mesh, surface.welded);
  for (std::uint32_t p = 0; p < neighbours.points(); ++p) {
    for (const std::uint32_t n : neighbours.row(p)) {
      const double length = n > p ? Length(surface.rest[n] - surface.rest[p]) : 0;
      if (length > kNoLength * surface.diagonal) surface.edges.push_back({p, n, length});
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
