#include "core/surface/rig_surface.h"

#include "core/surface/mean_value.h"

namespace sinew {
namespace {

template <class T, class Make>
const T& Once(std::shared_ptr<const T>& part, Make&& make) {
  if (part == nullptr) part = std::make_shared<const T>(make());
  return *part;
}

bool AllTriangles(const Mesh& mesh) {
  return mesh.face_vertices().size() == 3 * mesh.faces();
}

}  // namespace

const WeldedPoints& RigSurface::welded(const Task& task) const {
  return Once(parts_.welded, [&] { return Weld(rig_, task); });
}

const PointOrder& RigSurface::order() const {
  return Once(parts_.order, [&] { return OrderPoints(welded(), layout_); });
}

const Adjacency& RigSurface::polygons(const Task& task) const {
  return Once(parts_.polygons, [&] { return PolygonNeighbours(rig_.mesh(), welded(), task); });
}

const Adjacency& RigSurface::triangles(const Task& task) const {
  if (parts_.triangles == nullptr && AllTriangles(rig_.mesh())) {
    polygons(task);
    parts_.triangles = parts_.polygons;
  }
  return Once(parts_.triangles, [&] { return TriangleNeighbours(rig_.mesh(), welded(), task); });
}

const std::vector<std::uint8_t>& RigSurface::border() const {
  return Once(parts_.border, [&] { return BorderPoints(rig_.mesh(), welded()); });
}

const std::vector<ComponentRole>& RigSurface::components() const {
  return Once(parts_.components,
              [&] { return FindComponentRoles(rig_, welded(), triangles(), border()); });
}

const std::vector<double>& RigSurface::mean_value(const Task& task) const {
  return Once(parts_.mean_value,
              [&] { return MeanValueWeights(rig_.mesh(), welded(), triangles(), task); });
}

const SurfaceSlopes& RigSurface::slopes(const Task& task) const {
  return Once(parts_.slopes,
              [&] { return SurfaceSlopes::Create(rig_, layout_, order(), polygons(), task); });
}

const std::shared_ptr<const NeighbourWeights>& RigSurface::cotangents(const Task& task) const {
  Once(parts_.cotangents, [&] {
    return CotangentWeights(rig_.mesh(), welded(), triangles(task), NegativeWeights::kClamp);
  });
  return parts_.cotangents;
}

void RigSurface::Build(std::uint32_t parts, const Task& task) const {
  welded(task);
  if (task.cancelled()) return;  // then it is incomplete
  const auto build = [&](std::uint32_t part) {
    if ((parts & part) == 0) return;
    if (part == kOrder) order();
    if (part == kPolygons) polygons(task);
    if (part == kTriangles) triangles(task);
    if (part == kBorder) border();
    if (part == kComponents) components();
    if (part == kMeanValue) mean_value(task);
    if (part == kSlopes) slopes(task);
    if (part == kCotangents) cotangents(task);
  };
  const auto all = [&](std::span<const Part> of) {
    task.For(of.size(), 1, [&](std::size_t k, std::size_t) { build(of[k]); });
  };
  // Parts that use none of the others, then those that use them.
  static constexpr Part kFirst[] = {kTriangles, kPolygons, kBorder, kOrder};
  static constexpr Part kThen[] = {kCotangents, kMeanValue, kComponents, kSlopes};
  if (parts & (kMeanValue | kComponents)) parts |= kTriangles | kBorder;
  if (parts & kCotangents) parts |= kTriangles;
  if (parts & kSlopes) parts |= kPolygons | kOrder;
  if ((parts & kTriangles) && AllTriangles(rig_.mesh())) polygons(task);  // one part
  all(kFirst);
  all(kThen);
}

std::uint32_t RigSurface::built() const {
  std::uint32_t parts = 0;
  const auto add = [&](Part part, const auto& value) {
    if (value != nullptr) parts |= part;
  };
  add(kWelded, parts_.welded);
  add(kOrder, parts_.order);
  add(kPolygons, parts_.polygons);
  add(kTriangles, parts_.triangles);
  add(kBorder, parts_.border);
  add(kComponents, parts_.components);
  add(kMeanValue, parts_.mean_value);
  add(kSlopes, parts_.slopes);
  add(kCotangents, parts_.cotangents);
  return parts;
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
  if (parts & kCotangents) bytes += 24 * vertices + 12 * 2 * edges;
  return bytes;
}

}  // namespace sinew
