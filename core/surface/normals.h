// normals.h - vertex normals and tangents of a posed mesh, recomputed from its faces with authored
// shading; right behind any method.
//
// The surface normal of a welded point is the area-weighted sum of its faces' normals; points are
// welded as in adjacency.h, so the vertices of a hard edge share one surface normal and touching
// lips do not. Authored normals (hard edges, smoothed seams) are stored at bind relative to a frame
// (surface normal, direction to one one-ring neighbour) and restored in the posed frame. At rest
// they are exact up to the rounding of face directions: rounding of a coordinate over the edge
// length. Tangents: tangents.h.
//
// Normals follow the winding of the faces, like cof(M) n: a mirroring pose flips both.
//
// Methods that are smooth functions of each vertex carry normals instead (carried_normals.h), which
// is cheaper and closer. Largest / mean error in degrees against the smooth deformed tube (61 x 32,
// over all vertices; tests/bench/normals_bench):
//
//                              lbs                      dqs                     ddm
//                      bend 45      twist 90    bend 45     twist 90    bend 45    twist 90
//    rotated, A n      29.6 / 1.70  24.0 / 3.9  21.4 / 1.5  0 / 0       9.8 / 0.9  5.7 / 1.2
//    cof(A) n          29.6 / 1.56  24.0 / 3.9  as rotated: A is a rotation there
//    with gradients    0 / 0        0 / 0
//    carried *          0.5 / 0.02   0.5 / 0.05  0.4 / 0.02  0 / 0
//    recomputed        0.9 / 0.08   0.7 / 0.14  0.7 / 0.08  0.3 / 0.05  0.4 / 0.04 0.3 / 0.07
//
// * with gradients from edges .07 long, between joints 2 apart. ddm carries in its variants 4 and
// 5, which blend by weights; gradients would triple the moments of the others.
#pragma once

#include <absl/status/statusor.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/parallel/task.h"
#include "core/rig/layout.h"
#include "core/rig/posed_rig.h"
#include "core/rig/rig.h"
#include "core/surface/rig_surface.h"
#include "core/surface/surface_faces.h"
#include "core/surface/tangents.h"

namespace sinew {

// Bound data. Corners of faces are lanes of the layout; points are ordered by their lowest lane.
struct NormalTables : SurfaceFaces {
  std::uint32_t lanes = 0;                   // of the layout
  std::vector<std::uint32_t> vertex_offset;  // [P + 1] into vertices
  std::vector<std::uint32_t> vertices;       // [V] file vertices of a point
  std::vector<std::uint32_t> point_lane;     // [P] lane that holds a point's position
  std::vector<std::int32_t> neighbour_lane;  // [P] of the frame, -1 = no frame; or empty
  std::vector<Vec3f> shading;       // [V] as vertices: authored normal in the frame; or empty
  std::vector<Vec3f> rest_normals;  // [V] as vertices: authored, of the surface, or 0 0 1
  TangentTables tangents;           // in their own order

  std::size_t points() const { return point_lane.size(); }
  template <class Self, class Visit>
  static void Fields(Self& self, Visit&& visit, const TableSizes& rig = {}) {
    const std::size_t points = self.points(), vertices = self.vertices.size();
    const bool framed = !self.neighbour_lane.empty() || !self.shading.empty();
    visit("lanes", self.lanes, rule::Equals{rig.lanes});
    SurfaceFaces::Fields(self, visit, self.lanes, points);
    visit("vertex_offset", self.vertex_offset, rule::Offsets(points, vertices));
    visit("vertices", self.vertices, rule::Size(rig.vertices), rule::Distinct{rig.vertices});
    visit("point_lane", self.point_lane, rule::Below(self.lanes));
    visit("neighbour_lane", self.neighbour_lane, rule::Size(framed ? points : 0),
          rule::Below(self.lanes, -1));
    visit("shading", self.shading, rule::Size(framed ? vertices : 0), rule::UnitLength());
    visit("rest_normals", self.rest_normals, rule::Size(vertices), rule::UnitLength());
    TangentTables::Fields(self.tangents, visit, points, self.lanes, vertices);
  }
};

// Output in file order, any alignment; empty = not requested.
struct SurfaceOut {
  std::span<std::byte> normals{};   // [V * 12] float32 x y z, unit
  std::span<std::byte> tangents{};  // [V * 16] float32 x y z w; only if has_tangents()
};

class NormalFinisher {
 public:
  // The parts of the surface that Bind uses.
  static constexpr std::uint32_t kSurface =
      RigSurface::kWelded | RigSurface::kOrder | RigSurface::kPolygons;

  // kCancelled.
  static absl::StatusOr<NormalFinisher> Bind(const RigSurface& surface, const Task& task);

  // Whether the rig has authored tangents.
  bool has_tangents() const { return !tables_.tangents.empty(); }
  std::size_t scratch_floats() const;
  // Finite unit normals for any finite positions. A point whose faces have no area, or cancel, uses
  // its rest normal, transformed by its pivot binding. The same bits for any number of threads and
  // instruction set.
  //
  //    positions  [B] posed blocks, scene units, finite
  //    scratch    [scratch_floats()], 64-byte aligned
  void Run(const BlockLayout& layout, const PosedRig& rig, std::span<const PointBlock> positions,
           std::span<float> scratch, const SurfaceOut& out, const Task& task) const;

  // Validates loaded tables. kDataLoss.
  absl::Status Check(const BlockLayout& layout) const;
  // Upper limit of the memory Bind needs.
  static std::size_t CostBytes(const Rig& rig);

  template <class Self, class Visit>
  static void Fields(Self& self, Visit&& visit, const TableSizes& rig = {}) {
    NormalTables::Fields(self.tables_, visit, rig);
  }

 private:
  NormalTables tables_;
};

}  // namespace sinew
