// part_triangles.h - the welded triangles of a mesh, the orientation of its parts, and normals.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "core/base/types.h"
#include "core/mesh/mesh.h"
#include "core/surface/adjacency.h"

namespace sinew {

// Corners of a triangle.
using Triangle = std::array<std::uint32_t, 3>;

// Visits the welded points of each triangle and the polygon it belongs to. Triangles that use a
// point twice are left out.
template <class Visit>
void ForEachTriangle(const Mesh& mesh, const WeldedPoints& welded, Visit&& visit) {
  for (std::uint32_t f = 0; f < mesh.faces(); ++f) {
    const auto corners = mesh.face(f);
    for (std::size_t k = 2; k < corners.size(); ++k) {
      const Triangle t = {welded.point[corners[0]], welded.point[corners[k - 1]],
                          welded.point[corners[k]]};
      if (t[0] != t[1] && t[1] != t[2] && t[2] != t[0]) visit(t, f);
    }
  }
}

// -1 if a part is wound inside out (its signed volume about its centre is negative), else 1.
//
//    points  [V] of the whole mesh, in any space that does not mirror
double OutsideOf(const Mesh& mesh, const MeshPart& part, std::span<const Vec3d> points);

// [V] 1 if the vertex's part is inside out.
std::vector<std::uint8_t> InsideOut(const Mesh& mesh, std::span<const Vec3d> points);

// [P] outward unit normals of welded points, area-weighted; 0 0 0 if undefined. points: as above.
// Linear.
std::vector<Vec3d> OutwardNormals(const Mesh& mesh, const WeldedPoints& welded,
                                  std::span<const Vec3d> points);

// [P] unit normals, weighted by the angles of the triangles; 0 0 0 if undefined.
std::vector<Vec3d> AngleWeightedNormals(std::span<const Triangle> triangles,
                                        std::span<const Vec3d> points);

}  // namespace sinew
