// rig_surface.h - the welded surface of a rig, built once per bind and shared by all its stages.
//
// Each part is built on first use and kept. Thread-safe: parts never change once built.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include "core/rig/layout.h"
#include "core/rig/rig.h"
#include "core/surface/adjacency.h"
#include "core/surface/connected_components.h"

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
  };

  // Borrows both.
  RigSurface(const Rig& rig, const BlockLayout& layout) : rig_(rig), layout_(layout) {}

  const Rig& rig() const { return rig_; }
  const BlockLayout& layout() const { return layout_; }

  const WeldedPoints& welded() const;
  const PointOrder& order() const;
  // Neighbours along the edges of polygons, and of the triangles they are split into.
  const Adjacency& polygons() const;
  const Adjacency& triangles() const;
  // [P] 1 on an open border.
  const std::vector<std::uint8_t>& border() const;
  // [P] the kind of connected component a point belongs to.
  const std::vector<ComponentRole>& components() const;
  // Weights of the entries of triangles(), see mean_value.h.
  const std::vector<double>& mean_value() const;

  // Upper bound of what the parts `parts` hold once built.
  static std::size_t Bytes(const Rig& rig, std::uint32_t parts);

 private:
  template <class T>
  struct Lazy {
    std::once_flag once;
    T value;

    template <class Make>
    const T& Get(Make&& make) {
      std::call_once(once, [&] { value = make(); });
      return value;
    }
  };

  const Rig& rig_;
  const BlockLayout& layout_;
  mutable Lazy<WeldedPoints> welded_;
  mutable Lazy<PointOrder> order_;
  mutable Lazy<Adjacency> polygons_, triangles_;
  mutable Lazy<std::vector<std::uint8_t>> border_;
  mutable Lazy<std::vector<ComponentRole>> components_;
  mutable Lazy<std::vector<double>> mean_value_;
};

}  // namespace sinew
