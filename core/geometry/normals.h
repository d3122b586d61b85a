// normals.h - vertex normals of a posed mesh from its faces, with the authored shading carried
// along.
//
// The normal of a welded point is the area-weighted sum of its faces' normals; points are welded as
// in adjacency.h, so the vertices of a hard edge share one surface normal while lips that only
// touch do not. Authored normals (hard edges, smoothed seams) are kept relative to the surface: at
// bind each is expressed in the frame (surface normal, direction to one ring neighbour) of its
// point, and put back into the posed frame. At rest the authored normals come out again, as exactly
// as float32 positions tell a face's direction: rounding of a coordinate over the length of an
// edge.
//
// Normals follow the winding of the faces. A mirroring pose turns the winding, so normals then
// point to the other side, as cof(M) n does: normals and faces agree in every pose.
#pragma once

#include <absl/status/statusor.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/parallel/task.h"
#include "core/rig/layout.h"
#include "core/rig/rig.h"

namespace sinew {

// What is bound. Corners are lanes of the layout. Faces are counted through by their number of
// corners: triangles, quads, others; points by their lowest lane.
struct NormalTables {
  std::uint32_t lanes = 0;                    // of the layout
  std::vector<std::uint32_t> triangles;       // [3 T]
  std::vector<std::uint32_t> quads;           // [4 Q]
  std::vector<std::uint32_t> polygon_offset;  // [N + 1] into polygons
  std::vector<std::uint32_t> polygons;
  std::vector<std::uint32_t> face_offset;    // [P + 1] into faces
  std::vector<std::uint32_t> faces;          // faces around a point, rising
  std::vector<std::uint32_t> vertex_offset;  // [P + 1] into vertices
  std::vector<std::uint32_t> vertices;       // [V] file vertices of a point
  std::vector<std::uint32_t> point_lane;     // [P] lane that stands for the point
  std::vector<std::int32_t> neighbour_lane;  // [P] the frame's direction, -1 = no frame; or empty
  std::vector<Vec3f> shading;       // [V] as vertices: authored normal in the frame; or empty
  std::vector<Vec3f> rest_normals;  // [V] as vertices: authored, or the surface's, or 0 0 1; unit

  std::size_t points() const { return point_lane.size(); }
  std::size_t face_count() const {
    return triangles.size() / 3 + quads.size() / 4 + polygon_offset.size() - 1;
  }

  template <class Self, class Visit>
  static void Fields(Self& self, Visit&& visit) {
    visit("lanes", self.lanes);
    visit("triangles", self.triangles);
    visit("quads", self.quads);
    visit("polygon_offset", self.polygon_offset);
    visit("polygons", self.polygons);
    visit("face_offset", self.face_offset);
    visit("faces", self.faces);
    visit("vertex_offset", self.vertex_offset);
    visit("vertices", self.vertices);
    visit("point_lane", self.point_lane);
    visit("neighbour_lane", self.neighbour_lane);
    visit("shading", self.shading);
    visit("rest_normals", self.rest_normals);
  }
};

class NormalFinisher {
 public:
  static absl::StatusOr<NormalFinisher> Bind(const Rig& rig, const BlockLayout& layout);

  // Floats of scratch Run needs.
  std::size_t scratch_floats() const;
  // Finite and of unit length for any finite positions. A point whose faces have no area (or none
  // at all, or cancel) takes its rest normal, moved as a normal by its pivot binding.
  //   skin       [E] as in PosedRig
  //   positions  [B] posed blocks, scene units, finite
  //   scratch    [scratch_floats()], 64-byte aligned
  //   out        [V * 12] float32 x y z in file order, any alignment
  // Same bits for any thread count and instruction set.
  void Run(const BlockLayout& layout, std::span<const Affine> skin,
           std::span<const PointBlock> positions, std::span<float> scratch,
           std::span<std::byte> out, const Task& task) const;

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
