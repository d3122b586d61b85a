#include "core/surface/rig_surface.h"

#include "core/surface/mean_value.h"

namespace sinew {
namespace {

template <class T, class Make>
const T& Once(std::optional<T>& part, Make&& make) {
  if (!part) part = make();
  return *part;
}

}  // namespace

const WeldedPoints& RigSurface::welded(const Task& task) const {
  return Once(welded_, [&] { return Weld(rig_, task); });
}

const PointOrder& RigSurface::order() const {
  return Once(order_, [&] { return OrderPoints(welded(), layout_); });
}

const Adjacency& RigSurface::polygons(const Task& task) const {
  return Once(polygons_, [&] { return PolygonNeighbours(rig_.mesh(), welded(), task); });
}

const Adjacency& RigSurface::triangles(const Task& task) const {
  return Once(triangles_, [&] { return TriangleNeighbours(rig_.mesh(), welded(), task); });
}

const std::vector<std::uint8_t>& RigSurface::border() const {
  return Once(border_, [&] { return BorderPoints(rig_.mesh(), welded()); });
}

const std::vector<ComponentRole>& RigSurface::components() const {
  return Once(components_,
              [&] { return FindComponentRoles(rig_, welded(), triangles(), border()); });
}

const std::vector<double>& RigSurface::mean_value(const Task& task) const {
  return Once(mean_value_,
              [&] { return MeanValueWeights(rig_.mesh(), welded(), triangles(), task); });
}

const SurfaceSlopes& RigSurface::slopes(const Task& task) const {
  return Once(slopes_,
              [&] { return SurfaceSlopes::Create(rig_, layout_, order(), polygons(), task); });
}

void RigSurface::Build(std::uint32_t parts, const Task& task) {
  welded(task);
  const auto build = [&](std::uint32_t part) {
    if ((parts & part) == 0) return;
    if (part == kOrder) order();
    if (part == kPolygons) polygons(task);
    if (part == kTriangles) triangles(task);
    if (part == kBorder) border();
    if (part == kComponents) components();
    if (part == kMeanValue) mean_value(task);
    if (part == kSlopes) slopes(task);
  };
  const auto all = [&](std::span<const Part> of) {
    task.For(of.size(), 1, [&](std::size_t k, std::size_t) { build(of[k]); });
  };
  // Parts that use none of the others, then those that use them.
  static constexpr Part kFirst[] = {kTriangles, kPolygons, kBorder, kOrder};
  static constexpr Part kThen[] = {kMeanValue, kComponents, kSlopes};
  if (parts & (kMeanValue | kComponents)) parts |= kTriangles | kBorder;
  if (parts & kSlopes) parts |= kPolygons | kOrder;
  all(kFirst);
  all(kThen);
}

void RigSurface::Keep(std::uint32_t parts) {
  const auto keep = [parts](Part part, auto& value) {
    if ((parts & part) == 0) value.reset();
  };
  keep(kWelded, welded_);
  keep(kOrder, order_);
  keep(kPolygons, polygons_);
  keep(kTriangles, triangles_);
  keep(kBorder, border_);
  keep(kComponents, components_);
  keep(kMeanValue, mean_value_);
  keep(kSlopes, slopes_);
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
  if (parts & kSlopes) bytes += SurfaceSlopes::Bytes(rig);
  if (parts & kMeanValue) bytes += 8 * 2 * edges;
  return bytes;
}

}  // namespace sinew
