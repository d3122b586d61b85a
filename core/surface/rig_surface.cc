#include "core/surface/rig_surface.h"

#include "core/surface/mean_value.h"

namespace sinew {

const WeldedPoints& RigSurface::welded() const {
  return welded_.Get([&] { return Weld(rig_); });
}

const PointOrder& RigSurface::order() const {
  return order_.Get([&] { return OrderPoints(welded(), layout_); });
}

const Adjacency& RigSurface::polygons() const {
  return polygons_.Get([&] { return PolygonNeighbours(rig_.mesh(), welded()); });
}

const Adjacency& RigSurface::triangles() const {
  return triangles_.Get([&] { return TriangleNeighbours(rig_.mesh(), welded()); });
}

const std::vector<std::uint8_t>& RigSurface::border() const {
  return border_.Get([&] { return BorderPoints(rig_.mesh(), welded()); });
}

const std::vector<ComponentRole>& RigSurface::components() const {
  return components_.Get([&] { return FindComponentRoles(rig_, welded(), triangles(), border()); });
}

const std::vector<double>& RigSurface::mean_value() const {
  return mean_value_.Get([&] { return MeanValueWeights(rig_.mesh(), welded(), triangles()); });
}

std::size_t RigSurface::Bytes(const Rig& rig, std::uint32_t parts) {
  // Both directions of every edge; splitting polygons adds fewer edges than they have corners.
  const std::size_t vertices = rig.vertices(), edges = 2 * rig.mesh().face_vertices().size();
  std::size_t bytes = 0;
  if (parts & kWelded) bytes += 2 * 8 * vertices;  // `first` grows by doubling
  if (parts & kOrder) bytes += 16 * vertices;
  if (parts & kPolygons) bytes += 8 * vertices + 4 * edges;
  if (parts & kTriangles) bytes += 8 * vertices + 4 * 2 * edges;
  if (parts & (kBorder | kComponents)) bytes += 2 * vertices;
  if (parts & kMeanValue) bytes += 8 * 2 * edges;
  return bytes;
}

}  // namespace sinew
