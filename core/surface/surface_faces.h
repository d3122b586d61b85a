// surface_faces.h - the faces around each point of a surface, in the form used by kernels.
//
// Corners are indices into a packed array of x y z 0 chosen by the owner (lanes of a layout, or
// points).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "core/base/table_schema.h"
#include "core/base/types.h"
#include "core/mesh/mesh.h"
#include "core/parallel/task.h"

namespace sinew {

// Twice a vector area and the sum of the squared lengths, in double for cases beyond float.
struct FaceArea {
  Vec3d sum;
  double size = 0;

  // Adds a face, corner by corner; packed [corners][4].
  void Walk(std::span<const std::uint32_t> corners, const float* packed);
};

// Faces are ordered by their number of corners: triangles, quads, others.
struct SurfaceFaces {
  std::vector<std::uint32_t> triangles;       // [3 T] corners
  std::vector<std::uint32_t> quads;           // [4 Q]
  std::vector<std::uint32_t> polygon_offset;  // [N + 1] into polygons
  std::vector<std::uint32_t> polygons;
  std::vector<std::uint32_t> face_offset;  // [P + 1] into faces
  std::vector<std::uint32_t> faces;        // faces around a point, ascending

  std::size_t face_count() const {
    return triangles.size() / 3 + quads.size() / 4 + polygon_offset.size() - 1;
  }
  // Floats that FillFaceNormals writes, and the offset of a polygon's FaceArea among them.
  std::size_t normal_floats() const { return AreaPlace(face_count()); }
  std::size_t AreaPlace(std::size_t face) const {
    const std::size_t polygon = face - triangles.size() / 3 - quads.size() / 4;
    return face_count() * 4 + polygon * sizeof(FaceArea) / sizeof(float);
  }
  std::span<const std::uint32_t> Corners(std::size_t face) const;

  // For the Fields of what holds it. Corners lie below `corner_limit`.
  template <class Self, class Visit>
  static void Fields(Self& self, Visit&& visit, std::size_t corner_limit, std::size_t points) {
    visit("triangles", self.triangles, rule::MultipleOf{3}, rule::Below(corner_limit));
    visit("quads", self.quads, rule::MultipleOf{4}, rule::Below(corner_limit));
    visit("polygon_offset", self.polygon_offset,
          rule::Offsets(rule::kAnySize, self.polygons.size(), 3));
    visit("polygons", self.polygons, rule::Below(corner_limit));
    visit("face_offset", self.face_offset, rule::Offsets(points, self.faces.size()));
    visit("faces", self.faces, rule::Below(self.face_count()));
  }
};

// Faces are sorted by their lowest corner for locality.
//
//    corner  [V] of a vertex;  point  [V] of a vertex, below `points`
SurfaceFaces MakeSurfaceFaces(const Mesh& mesh, std::span<const std::uint32_t> corner,
                              std::span<const std::uint32_t> point, std::size_t points);

// Writes an area vector [faces][4] per face (see normals_kernel.h) from packed [corners][4], both
// 16-byte aligned, followed by a FaceArea per polygon, for AddFaceArea.
void FillFaceNormals(const SurfaceFaces& faces, std::span<const float> packed,
                     std::span<float> normals, const Task& task);

// Adds the area of a face, with packed and normals from FillFaceNormals. Large polygons are not
// walked again: over all their points that would be quadratic.
void AddFaceArea(const SurfaceFaces& faces, const float* packed, const float* normals,
                 std::size_t face, FaceArea& area);

// Rows of (row, value) pairs; values keep their order within a row.
void MakeRows(std::span<const std::pair<std::uint32_t, std::uint32_t>> pairs, std::size_t rows,
              std::vector<std::uint32_t>& offsets, std::vector<std::uint32_t>& values);

}  // namespace sinew
