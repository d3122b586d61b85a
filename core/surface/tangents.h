// tangents.h - authored tangents carried along a posed surface; a part of normals.
//
// A tangent is a direction of the texture on the surface, so it stretches and shears with it. At
// bind each point gets two axes across its surface normal, as weighted sums of the edges around it:
// the weights of the least-squares gradient over these edges (edges count 1 / length^2). The same
// sums over the posed edges, brought back across the posed normal, are the posed axes, and the
// tangent keeps its coordinates in them: exact for every linear motion of a flat neighbourhood.
// What of the tangent stands out of that plane (hard edges) stays along the surface normal. Made
// orthogonal to the vertex's output normal and of unit length in the end.
//
// Handedness never changes: output normals follow the winding of the faces, so that a mirror turns
// them over and cross(normal, tangent) * w stays the moved bitangent.
#pragma once

#include <absl/status/status.h>

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/types.h"
#include "core/mesh/mesh.h"

namespace sinew {

struct NormalTables;

// All empty = the rig has no tangents.
struct TangentTables {
  std::vector<std::uint32_t> ring_offset;  // [P + 1] into ring_lane
  std::vector<std::uint32_t> ring_lane;    // lanes of a point's neighbours; none = no axes
  std::vector<float> ring_weight;          // [2 a neighbour] of its edge in both axes, -1 to 1
  // In the order of NormalTables::vertices:
  std::vector<Vec3f> coordinates;    // [V] unit: along both axes and along the surface normal; or 0
  std::vector<Vec4f> rest_tangents;  // [V] unit, orthogonal to rest_normals, handedness; 0 0 0 0 =
                                     // none was given

  bool empty() const { return rest_tangents.empty(); }

  template <class Self, class Visit>
  static void Fields(Self& self, Visit&& visit) {
    visit("ring_offset", self.ring_offset);
    visit("ring_lane", self.ring_lane);
    visit("ring_weight", self.ring_weight);
    visit("coordinates", self.coordinates);
    visit("rest_tangents", self.rest_tangents);
  }
};

// The lanes of each point's neighbours.
struct PointRings {
  std::vector<std::uint32_t> offset;  // [P + 1] into lane
  std::vector<std::uint32_t> lane;

  std::span<const std::uint32_t> row(std::size_t p) const {
    return std::span(lane).subspan(offset[p], offset[p + 1] - offset[p]);
  }
};

//   packed   [lanes][4] rest positions
//   surface  [P] unit normals of the rest surface, or 0 0 0 where the faces say nothing
// Empty if the mesh has no tangents. `tables` must have its rest_normals.
TangentTables BindTangents(const Mesh& mesh, const NormalTables& tables, const PointRings& rings,
                           const float* packed, std::span<const Vec3f> surface);

// What a point's tangents need of its pose.
struct TangentPoint {
  bool found = false;  // false: the pivot moves its tangents
  Vec3f x, y;          // posed axes, not yet across the normal
  Vec3f normal;        // of the posed surface, on the side to which the rest one turns
};
// The axes of point p, whose posed surface normal is `surface`; side: -1 where its pivot mirrors.
TangentPoint PoseAxes(const TangentTables& tables, std::size_t p, const float* packed,
                      std::uint32_t lane, const Vec3f& surface, float side);
// The tangent of row k. normal: the vertex's output normal; skin: of its pivot binding. Unit,
// orthogonal to `normal`; 0 0 0 0 where none was given.
Vec4f PosedTangent(const TangentTables& tables, std::size_t k, const TangentPoint& point,
                   const Vec3f& normal, const Affine& skin);

// Sizes and ranges; run after loading. kDataLoss.
absl::Status CheckTangents(const TangentTables& tables, const NormalTables& normals);

}  // namespace sinew
