// part_triangles.h - the triangles of one part of a mesh, and which of its sides is outside.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "core/base/types.h"
#include "core/geometry/mesh.h"

namespace sinew {

// Visits the vertices of each triangle; polygons are cut into fans from their first corner.
template <class Visit>
void ForEachTriangle(const Mesh& mesh, const MeshPart& part, Visit&& visit) {
  for (std::uint32_t f = part.face_offset; f < part.face_offset + part.face_count; ++f) {
    const std::uint32_t begin = mesh.face_offsets()[f], end = mesh.face_offsets()[f + 1];
    for (std::uint32_t c = begin + 1; c + 1 < end; ++c) {
      visit(std::array{mesh.face_vertices()[begin], mesh.face_vertices()[c],
                       mesh.face_vertices()[c + 1]});
    }
  }
}

// -1 where a part stands inside out, that is, its signed volume about its middle is negative; else
// 1.
//   points  [V] of the whole mesh, in any space that does not mirror
double OutsideOf(const Mesh& mesh, const MeshPart& part, std::span<const Vec3d> points);

}  // namespace sinew
