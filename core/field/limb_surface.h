// limb_surface.h - the rest surface cut into the parts that joints own: vertices by their strongest
// joint.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/base/types.h"
#include "core/rig/rig.h"

namespace sinew {

// The binding of a vertex with the largest weight, ties by lower joint.
std::uint16_t StrongestBinding(const Rig& rig, std::size_t v);

struct LimbSurface {
  std::vector<Vec3d> points;   // [V] rest pose, model space, each moved by its strongest binding
  std::vector<Vec3d> normals;  // [V] unit, outward; 0 0 0 where no face has an area
  std::vector<std::uint16_t> joint;                     // [V] of the strongest binding
  std::vector<std::uint32_t> vertex_offset;             // [J + 1] into vertices
  std::vector<std::uint32_t> vertices;                  // [V] of a joint, rising
  std::vector<std::uint32_t> triangle_offset;           // [J + 1] into triangles
  std::vector<std::array<std::uint32_t, 3>> triangles;  // whose corners all belong to the joint

  std::span<const std::uint32_t> VerticesOf(std::size_t j) const {
    return std::span(vertices).subspan(vertex_offset[j], vertex_offset[j + 1] - vertex_offset[j]);
  }
  std::span<const std::array<std::uint32_t, 3>> TrianglesOf(std::size_t j) const {
    return std::span(triangles).subspan(triangle_offset[j],
                                        triangle_offset[j + 1] - triangle_offset[j]);
  }
};

// Polygons are cut into fans. Normals are area-weighted over welded points; those of a mesh that
// stands inside out (its signed volume is negative) are turned round.
LimbSurface MakeLimbSurface(const Rig& rig);
// Bytes it holds at any time while being made, roughly from above.
std::size_t LimbSurfaceBytes(const Rig& rig);

}  // namespace sinew
