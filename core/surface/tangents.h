// tangents.h - authored tangents on a posed surface; part of NormalFinisher.
//
// A tangent is a direction of the texture on the surface, so it stretches and shears with it. At
// bind each point gets two axes perpendicular to its surface normal, as weighted sums of its edges:
// the weights of the least-squares gradient over these edges (with edge weights 1 / length^2). The
// same sums of the posed edges, projected perpendicular to the posed normal, are the posed axes, in
// which the tangent keeps its coordinates: exact for linear motions of a flat neighbourhood. A
// component out of the plane (hard edges) stays along the surface normal. The result is made
// orthogonal to the output normal and normalised.
//
// Handedness is constant: output normals follow the winding of the faces, which a mirror flips, so
// cross(normal, tangent) * w is the transformed bitangent.
#pragma once

#include <absl/status/status.h>

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/table_schema.h"
#include "core/base/types.h"
#include "core/mesh/mesh.h"

namespace sinew {

struct NormalTables;

// Empty if the rig has no tangents.
struct TangentTables {
  std::vector<std::uint32_t> ring_offset;  // [P + 1] into ring_lane
  std::vector<std::uint32_t> ring_lane;    // lanes of a point's neighbours; none = no axes
  std::vector<float> ring_weight;          // [2 per neighbour] of its edge in both axes, -1 to 1
  // In the order of NormalTables::vertices:
  std::vector<Vec3f> coordinates;    // [V] unit: along both axes and the surface normal; or 0
  std::vector<Vec4f> rest_tangents;  // [V] unit, orthogonal to rest_normals; 0 0 0 0 = none

  bool empty() const { return rest_tangents.empty(); }

  // For NormalTables, with these numbers of points, lanes and vertices.
  template <class Self, class Visit>
  static void Fields(Self& self, Visit&& visit, std::size_t points, std::size_t lanes,
                     std::size_t vertices) {
    const bool none = self.empty();
    visit("ring_offset", self.ring_offset, rule::Size(none ? 0 : points + 1),
          rule::Offsets(none ? rule::kAnySize : points, self.ring_lane.size(), 0, none));
    visit("ring_lane", self.ring_lane, rule::Size(0, none ? 0 : rule::kAnySize),
          rule::Below(lanes));
    visit("ring_weight", self.ring_weight, rule::Size(self.ring_lane.size() * 2),
          rule::Within{-1.001f, 1.001f});
    visit("coordinates", self.coordinates, rule::Size(none ? 0 : vertices),
          rule::Within{-1.001f, 1.001f});
    visit("rest_tangents", self.rest_tangents, rule::SizeOrEmpty{vertices},
          rule::Each("0 0 0 0 or a unit vector with a handedness of -1 or 1", [](const Vec4f& t) {
            return t == Vec4f{} || (rule::IsUnit(t) && (t.w == -1 || t.w == 1));
          }));
  }
};

struct PointRings {
  std::vector<std::uint32_t> offset;  // [P + 1] into lane
  std::vector<std::uint32_t> lane;

  std::span<const std::uint32_t> row(std::size_t p) const {
    return std::span(lane).subspan(offset[p], offset[p + 1] - offset[p]);
  }
};

// Empty if the mesh has no tangents. `tables` must have its rest_normals.
//
//    packed   [lanes][4] rest positions
//    surface  [P] unit normals of the rest surface, or 0 0 0 if undefined
TangentTables BindTangents(const Mesh& mesh, const NormalTables& tables, const PointRings& rings,
                           const float* packed, std::span<const Vec3f> surface);

// A point's values for posing its tangents.
struct TangentPoint {
  bool found = false;  // false: tangents follow the pivot
  Vec3f x, y;          // posed axes, not yet perpendicular to the normal
  Vec3f normal;        // of the posed surface, on the side of the rotated rest normal
};
// The axes of point p with posed surface normal `surface`; side: -1 if its pivot mirrors.
TangentPoint PoseAxes(const TangentTables& tables, std::size_t p, const float* packed,
                      std::uint32_t lane, const Vec3f& surface, float side);
// The tangent of row k. normal: the vertex's output normal; skin: of its pivot binding. Unit,
// orthogonal to `normal`; 0 0 0 0 if there is none.
Vec4f PosedTangent(const TangentTables& tables, std::size_t k, const TangentPoint& point,
                   const Vec3f& normal, const Affine& skin);

// A rest tangent transformed by its pivot binding: a unit vector perpendicular to `normal`. For
// points without a surface.
Vec3d MovedTangent(const Vec3d& rest, const Affine& skin, const Vec3d& normal);

}  // namespace sinew
