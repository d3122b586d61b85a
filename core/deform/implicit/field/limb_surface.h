// limb_surface.h - the skin as it was bound, cut into the parts that joints own: vertices by their
// strongest joint. What fields of parts are fitted to.
//
// Lengths are the rig's units, in the model space of the bind pose. J joints, V vertices in file
// order; rows are offsets into a flat array.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/base/types.h"
#include "core/rig/rig.h"

namespace sinew {

using Corners = std::array<std::uint32_t, 3>;  // of a triangle: vertices

// Owns its arrays; not changed once made, so any number of threads may read it.
struct LimbSurface {
  std::vector<AffineD> pose;  // [J] the bind pose: a rest pose that bends joints has lost the shape
  std::vector<Vec3d> points;  // [V] there, model space
  std::vector<Vec3d> normals;                  // [V] unit, outward; 0 0 0 where no face has an area
  std::vector<std::uint16_t> joint;            // [V] of the strongest binding
  std::vector<std::uint32_t> vertex_offset;    // [J + 1] into vertices
  std::vector<std::uint32_t> vertices;         // [V] of a joint, rising
  std::vector<std::uint32_t> triangle_offset;  // [J + 1] into triangles
  std::vector<Corners> triangles;              // all of one joint; behind them the others

  // A triangle one of whose corners, at least, is the joint's.
  struct Skin {
    std::uint32_t triangle = 0;
    std::array<float, 3> weight{};  // of the joint at the corners
  };
  std::vector<std::uint32_t> skin_offset;  // [J + 1] into skin
  std::vector<Skin> skin;

  std::span<const std::uint32_t> VerticesOf(std::size_t j) const {
    return std::span(vertices).subspan(vertex_offset[j], vertex_offset[j + 1] - vertex_offset[j]);
  }
  std::span<const Corners> TrianglesOf(std::size_t j) const {
    return std::span(triangles).subspan(triangle_offset[j],
                                        triangle_offset[j + 1] - triangle_offset[j]);
  }
  std::span<const Skin> SkinOf(std::size_t j) const {
    return std::span(skin).subspan(skin_offset[j], skin_offset[j + 1] - skin_offset[j]);
  }
};

// Polygons are cut into fans. Normals are area-weighted over welded points; those of a mesh that
// stands inside out (its signed volume is negative) are turned round. Cannot fail: a Rig is
// checked, every vertex of it has a binding. Cost O(n log n) in corners.
LimbSurface MakeLimbSurface(const Rig& rig);
// Bytes it holds at any time while being made, roughly from above.
std::size_t LimbSurfaceBytes(const Rig& rig);

}  // namespace sinew
