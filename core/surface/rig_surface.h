// rig_surface.h - the welded surface of a rig, shared by all stages of a bind and by later binds of
// the rig.
//
// Each part is built on first use. A surface belongs to one thread; others may read parts that it
// has built. Parts do not change, refer to no rig, and depend on the rig alone: a surface of an
// equal rig may start with them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "core/rig/layout.h"
#include "core/rig/rig.h"
#include "core/surface/adjacency.h"
#include "core/surface/connected_components.h"
#include "core/surface/laplacian.h"
#include "core/surface/surface_slopes.h"

namespace sinew {

class RigSurface {
 public:
  // What may be built, as flags.
  enum Part : std::uint32_t {
    kWelded = 1,
    kOrder = 2,
    kPolygons = 4,
    kTriangles = 8,
    kBorder = 16,
    kComponents = 32,
    kMeanValue = 64,
    kSlopes = 128,
    kCotangents = 256,
  };
  // Null: not built.
  struct Parts {
    std::shared_ptr<const WeldedPoints> welded;
    std::shared_ptr<const PointOrder> order;
    std::shared_ptr<const Adjacency> polygons, triangles;
    std::shared_ptr<const std::vector<std::uint8_t>> border;
    std::shared_ptr<const std::vector<ComponentRole>> components;
    std::shared_ptr<const std::vector<double>> mean_value;
    std::shared_ptr<const SurfaceSlopes> slopes;
    std::shared_ptr<const NeighbourWeights> cotangents;
  };

  // Borrows both. built: of an equal rig.
  RigSurface(const Rig& rig, const BlockLayout& layout, Parts built = {})
      : rig_(rig), layout_(layout), parts_(std::move(built)) {}

  const Rig& rig() const { return rig_; }
  const BlockLayout& layout() const { return layout_; }

  // task: threads that build the part, if it is not there yet.
  const WeldedPoints& welded(const Task& task = Task({.parallel = false})) const;
  const PointOrder& order() const;
  // Neighbours along the edges of polygons, and of the triangles they are split into.
  const Adjacency& polygons(const Task& task = Task({.parallel = false})) const;
  const Adjacency& triangles(const Task& task = Task({.parallel = false})) const;
  // [P] 1 on an open border.
  const std::vector<std::uint8_t>& border() const;
  // [P] the kind of connected component a point belongs to.
  const std::vector<ComponentRole>& components() const;
  // Weights of the entries of triangles(), see mean_value.h.
  const std::vector<double>& mean_value(const Task& task = Task({.parallel = false})) const;
  // Tangents, and slopes of values along them.
  const SurfaceSlopes& slopes(const Task& task) const;
  // Laplacian weights of triangles(), negative ones clamped.
  const std::shared_ptr<const NeighbourWeights>& cotangents(
      const Task& task = Task({.parallel = false})) const;

  // Builds parts now, on several threads; others are built when they are used. The surface is of no
  // use once the task is cancelled.
  void Build(std::uint32_t parts, const Task& task) const;
  const Parts& parts() const { return parts_; }
  std::uint32_t built() const;  // as flags
  // Upper bound of what the parts `parts` hold once built.
  static std::size_t Bytes(const Rig& rig, std::uint32_t parts);

 private:
  const Rig& rig_;
  const BlockLayout& layout_;
  mutable Parts parts_;
};

}  // namespace sinew
