// limb_surface.h - the bind-pose skin divided into the parts of joints (vertices by their strongest
// joint), as input for fitting fields.
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
#include "core/surface/adjacency.h"

namespace sinew {

using Corners = std::array<std::uint32_t, 3>;  // vertices of a triangle

// Immutable once created; shared by threads.
struct LimbSurface {
  std::vector<AffineD> pose;         // [J] bind pose; a bent rest pose loses the shape
  std::vector<Vec3d> points;         // [V] bind pose positions, model space
  std::vector<Vec3d> normals;        // [V] outward unit normals; 0 0 0 if no face has an area
  std::vector<std::uint16_t> joint;  // [V] of the strongest binding
  std::vector<std::uint32_t> vertex_offset;  // [J + 1] into vertices
  std::vector<std::uint32_t> vertices;       // [P] one of each point, by joint, ascending
  std::vector<Corners> triangles;            // in the order of the file
  std::vector<std::uint32_t> number;         // of each triangle, among those of its mesh
  double diagonal = 0;                       // of the bounding box of the points

  // A triangle with at least one corner of the joint.
  struct Skin {
    std::uint32_t triangle = 0;
    std::array<float, 3> weight{};  // the joint's weight at the corners
  };
  std::vector<std::uint32_t> skin_offset;  // [J + 1] into skin
  std::vector<Skin> skin;

  std::span<const std::uint32_t> VerticesOf(std::size_t j) const {
    return std::span(vertices).subspan(vertex_offset[j], vertex_offset[j + 1] - vertex_offset[j]);
  }
  std::span<const Skin> SkinOf(std::size_t j) const {
    return std::span(skin).subspan(skin_offset[j], skin_offset[j + 1] - skin_offset[j]);
  }
};

// Polygons are split into fans. Normals are area-weighted over welded points and reversed for an
// inside-out mesh (negative signed volume). Cannot fail for a valid rig. O(n log n) in corners.
LimbSurface MakeLimbSurface(const Rig& rig, const WeldedPoints& welded);
// Upper estimate of the memory needed.
std::size_t LimbSurfaceBytes(const Rig& rig);

}  // namespace sinew
