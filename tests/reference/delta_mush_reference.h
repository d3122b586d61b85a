// delta_mush_reference.h - Delta Mush and Blender's Corrective Smooth in double, directly from
// their definitions.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <span>
#include <vector>

#include "core/base/types.h"
#include "core/deform/engine/params.h"
#include "core/rig/rig.h"

namespace sinew::reference {

using Points = std::vector<Vec3d>;

// Coincident vertices with equal weights are one point, with its faces and neighbours.
struct MushMesh {
  MushMesh(const Rig& rig, bool cut_into_triangles);
  std::size_t points() const { return ring.size(); }
  // Converts between positions of vertices and of points.
  Points OfPoints(std::span<const Vec3d> vertices) const;
  Points OfVertices(std::span<const Vec3d> points) const;

  Points rest;                                  // [P]
  std::vector<std::size_t> point;               // [V]
  std::vector<std::size_t> first;               // [P] vertex
  std::vector<std::vector<std::size_t>> faces;  // corners as points
  std::vector<std::set<std::size_t>> ring;      // [P] in file order
};

// X <- X + h (N X - X), `iterations` times, on points. With keep_area, h is multiplied by (area
// around the smoothed rest point / area before / keep_area)^2, clamped to 0.01 .. 1, after three
// rounds of F <- (F + N F) / 2.
//
//    map  [V] or empty
Points SmoothExplicitly(const Rig& rig, const DeltaMushParams& params, std::span<const float> map,
                        const Points& vertices);

using Smoother = std::function<Points(const Points&)>;

// v = S(y) + displacement F(S(y)) F(S(u))^T (u - S(u)); `smooth` is S, on vertices.
//
//    posed  [V] y;  turn  [V] rotation of the detail where the smoothed mesh has no frame
Points DeltaMush(const Rig& rig, bool cut_into_triangles, const Smoother& smooth,
                 double displacement, std::span<const Vec3d> posed, std::span<const Mat3d> turn);

// Blender 3.4's modifier.
struct CorrectiveSmoothOptions {
  double factor = 0.5;
  int iterations = 5;
  bool length_weighted = false, only_smooth = false, pin = false;
  double scale = 1;
};
Points CorrectiveSmooth(const std::vector<std::vector<std::size_t>>& faces, const Points& rest,
                        const Points& posed, const CorrectiveSmoothOptions& options);

}  // namespace sinew::reference
