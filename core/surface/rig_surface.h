// rig_surface.h - the welded surface of a rig, built once per bind and shared by all its stages.
//
// Each part is built on first use and kept until Keep drops it. Belongs to one thread; others may
// read parts that it has built and keeps.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/rig/layout.h"
#include "core/rig/rig.h"
#include "core/surface/adjacency.h"
#include "core/surface/connected_components.h"
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
  };

  // Borrows both.
  RigSurface(const Rig& rig, const BlockLayout& layout) : rig_(rig), layout_(layout) {}

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

  // Builds parts now, on several threads; others are built when they are used.
  void Build(std::uint32_t parts, const Task& task);
  // Drops the other parts; they are built again if used.
  void Keep(std::uint32_t parts);
  // Upper bound of what the parts `parts` hold once built.
  static std::size_t Bytes(const Rig& rig, std::uint32_t parts);

 private:
  const Rig& rig_;
  const BlockLayout& layout_;
  mutable std::optional<WeldedPoints> welded_;
  mutable std::optional<PointOrder> order_;
  mutable std::optional<Adjacency> polygons_, triangles_;
  mutable std::optional<std::vector<std::uint8_t>> border_;
  mutable std::optional<std::vector<ComponentRole>> components_;
  mutable std::optional<std::vector<double>> mean_value_;
  mutable std::optional<SurfaceSlopes> slopes_;
};

}  // namespace sinew
