// normals.h - vertex normals and tangents of a posed mesh from its faces, with the authored shading
// carried along: the one finisher behind every method.
//
// The normal of a welded point is the area-weighted sum of its faces' normals; points are welded as
// in adjacency.h, so the vertices of a hard edge share one surface normal while lips that only
// touch do not. Authored normals (hard edges, smoothed seams) are kept relative to the surface: at
// bind each is expressed in the frame (surface normal, direction to one ring neighbour) of its
// point, and put back into the posed frame. At rest the authored normals come out again, as exactly
// as float32 positions tell a face's direction: rounding of a coordinate over the length of an
// edge. Tangents: tangents.h.
//
// Normals follow the winding of the faces. A mirroring pose turns the winding, so normals then
// point to the other side, as cof(M) n does: normals and faces agree in every pose.
//
// Why recomputed: largest / mean error in degrees against the smooth deformed tube (61 x 32, over
// all vertices; tests/bench/normals_bench):
//                             lbs                      dqs                     ddm
//                     bend 45      twist 90    bend 45     twist 90    bend 45    twist 90
//   rotated, A n      29.6 / 1.70  24.0 / 3.9  21.4 / 1.5  0 / 0       9.8 / 0.9  5.7 / 1.2
//   cof(A) n          29.6 / 1.56  24.0 / 3.9  as rotated: A is a rotation there
//   weight gradients  0 / 0        0 / 0       lbs only; 2 floats more per influence
//   recomputed        0.9 / 0.08   0.7 / 0.14  0.7 / 0.08  0.3 / 0.05  0.4 / 0.04 0.3 / 0.07
// The gradient of the weights is what the first two miss, and every method has its own; the faces
// know it from all of them, and from shapes and corrections behind them. Their mean error falls
// with the square of the edge length. The price is about three times that of rotated normals.
#pragma once

#include <absl/status/statusor.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/parallel/task.h"
#include "core/rig/layout.h"
#include "core/rig/rig.h"
#include "core/surface/surface_faces.h"
#include "core/surface/tangents.h"

namespace sinew {

// What is bound. Corners of faces are lanes of the layout; points are counted by their lowest lane.
struct NormalTables : SurfaceFaces {
  std::uint32_t lanes = 0;                   // of the layout
  std::vector<std::uint32_t> vertex_offset;  // [P + 1] into vertices
  std::vector<std::uint32_t> vertices;       // [V] file vertices of a point
  std::vector<std::uint32_t> point_lane;     // [P] lane that stands for the point
  std::vector<std::int32_t> neighbour_lane;  // [P] the frame's direction, -1 = no frame; or empty
  std::vector<Vec3f> shading;       // [V] as vertices: authored normal in the frame; or empty
  std::vector<Vec3f> rest_normals;  // [V] as vertices: authored, or the surface's, or 0 0 1; unit
  TangentTables tangents;           // of their own

  std::size_t points() const { return point_lane.size(); }
  template <class Self, class Visit>
  static void Fields(Self& self, Visit&& visit) {
    visit("lanes", self.lanes);
    SurfaceFaces::Fields(self, visit);
    visit("vertex_offset", self.vertex_offset);
    visit("vertices", self.vertices);
    visit("point_lane", self.point_lane);
    visit("neighbour_lane", self.neighbour_lane);
    visit("shading", self.shading);
    visit("rest_normals", self.rest_normals);
    TangentTables::Fields(self.tangents, visit);
  }
};

// What Run fills, in file order, at any alignment; empty = not wanted.
struct SurfaceOut {
  std::span<std::byte> normals{};   // [V * 12] float32 x y z, unit
  std::span<std::byte> tangents{};  // [V * 16] float32 x y z w; only if has_tangents()
};

class NormalFinisher {
 public:
  // kCancelled when the task is.
  static absl::StatusOr<NormalFinisher> Bind(const Rig& rig, const BlockLayout& layout,
                                             const Task& task);

  // The rig has authored tangents.
  bool has_tangents() const { return !tables_.tangents.empty(); }
  // Floats of scratch Run needs.
  std::size_t scratch_floats() const;
  // Finite and of unit length for any finite positions. A point whose faces have no area (or none
  // at all, or cancel) takes its rest normal, moved as a normal by its pivot binding.
  //   skin       [E] as in PosedRig
  //   positions  [B] posed blocks, scene units, finite
  //   scratch    [scratch_floats()], 64-byte aligned
  // Same bits for any thread count and instruction set.
  void Run(const BlockLayout& layout, std::span<const Affine> skin,
           std::span<const PointBlock> positions, std::span<float> scratch, const SurfaceOut& out,
           const Task& task) const;

  // Table sizes and index ranges; run after loading, before anything else. kDataLoss.
  absl::Status Check(const BlockLayout& layout) const;
  // Upper bound of what Bind holds at any time.
  static std::size_t CostBytes(const Rig& rig);

  template <class Self, class Visit>
  static void Fields(Self& self, Visit&& visit) {
    NormalTables::Fields(self.tables_, visit);
  }

 private:
  NormalTables tables_;
};

}  // namespace sinew
