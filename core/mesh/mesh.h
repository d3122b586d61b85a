// mesh.h - a validated polygon mesh: all meshes of a rig with one vertex numbering.
//
// Immutable. Positions are float32 as uploaded, in bind space (geometry binds are part of the
// inverse bind matrices).
#pragma once

#include <absl/status/statusor.h>

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/base/types.h"

namespace sinew {

// Location of one uploaded mesh in the common numbering.
struct MeshPart {
  std::string name;
  std::uint32_t vertex_offset = 0, vertex_count = 0;
  std::uint32_t face_offset = 0, face_count = 0;
};

// Input of Mesh::Create: the arrays of all parts concatenated; indices are relative to the rig's
// first vertex.
struct MeshSource {
  std::vector<MeshPart> parts;
  std::vector<Vec3f> positions;              // [V]
  std::vector<std::uint32_t> face_offsets;   // [F + 1] into face_vertices, 3 or more per face
  std::vector<std::uint32_t> face_vertices;  // [corners]
  std::vector<Vec3f> normals;  // [V] or empty; 0 0 0 for vertices of parts without normals
  // [V] or empty: direction x y z of any length, and handedness w = +-1: the bitangent is
  // cross(normal, x y z) * w. x y z = 0: no tangent.
  std::vector<Vec4f> tangents;
  std::vector<std::uint32_t> weld;  // [V] or empty; vertices with equal numbers are one point
};

class Mesh {
 public:
  // kInvalidArgument: no vertices, inconsistent sizes, a corner out of range, a value that is not
  // finite, a handedness other than 1 or -1, parts that do not cover the vertices. Faces may be
  // degenerate, duplicate or non-manifold.
  static absl::StatusOr<Mesh> Create(MeshSource source);

  std::size_t vertices() const { return source_.positions.size(); }
  std::size_t faces() const { return source_.face_offsets.size() - 1; }
  std::span<const MeshPart> parts() const { return source_.parts; }
  std::span<const Vec3f> positions() const { return source_.positions; }
  std::span<const std::uint32_t> face_offsets() const { return source_.face_offsets; }
  std::span<const std::uint32_t> face_vertices() const { return source_.face_vertices; }
  // Corners of face f.
  std::span<const std::uint32_t> face(std::size_t f) const {
    const std::uint32_t begin = source_.face_offsets[f];
    return face_vertices().subspan(begin, source_.face_offsets[f + 1] - begin);
  }
  std::span<const Vec3f> normals() const { return source_.normals; }    // may be empty
  std::span<const Vec4f> tangents() const { return source_.tangents; }  // may be empty
  std::span<const std::uint32_t> weld() const { return source_.weld; }  // may be empty
  Vec3d minimum() const { return minimum_; }
  Vec3d maximum() const { return maximum_; }
  Vec3d centre() const { return 0.5 * (minimum_ + maximum_); }
  // Length of the bounding box's diagonal; 0 for a single point.
  double diagonal() const;

 private:
  explicit Mesh(MeshSource source) : source_(std::move(source)) {}
  MeshSource source_;
  Vec3d minimum_, maximum_;
};

// Visits the vertices of each triangle of the faces [begin, end); polygons are split into fans from
// their first corner.
template <class Visit>
void ForEachTriangle(const Mesh& mesh, std::size_t begin, std::size_t end, Visit&& visit) {
  for (std::size_t f = begin; f < end; ++f) {
    const auto face = mesh.face(f);
    for (std::size_t k = 2; k < face.size(); ++k) visit(std::array{face[0], face[k - 1], face[k]});
  }
}
template <class Visit>
void ForEachTriangle(const Mesh& mesh, Visit&& visit) {
  ForEachTriangle(mesh, 0, mesh.faces(), visit);
}
template <class Visit>
void ForEachTriangle(const Mesh& mesh, const MeshPart& part, Visit&& visit) {
  ForEachTriangle(mesh, part.face_offset, part.face_offset + part.face_count, visit);
}

}  // namespace sinew
