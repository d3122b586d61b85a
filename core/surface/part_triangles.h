// part_triangles.h - the orientation of a mesh's parts, and outward normals.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "core/base/types.h"
#include "core/mesh/mesh.h"
#include "core/surface/adjacency.h"

namespace sinew {

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

}  // namespace sinew
