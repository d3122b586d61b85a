// mesh.h - a validated polygon mesh: all meshes of a rig in one vertex numbering.
//
// Immutable once made. Positions are float32 as uploaded, in bind space (each part's geometry bind
// is folded into the inverse bind matrices, not here).
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/base/types.h"

namespace sinew {

// Where one uploaded mesh stands in the one numbering.
struct MeshPart {
  std::string name;
  std::uint32_t vertex_offset = 0, vertex_count = 0;
  std::uint32_t face_offset = 0, face_count = 0;
};

// What Mesh::Create takes. Arrays of all parts one after the other; indices count from the first
// vertex of the rig.
struct MeshSource {
  std::vector<MeshPart> parts;
  std::vector<Vec3f> positions;              // [V]
  std::vector<std::uint32_t> face_offsets;   // [F + 1] into face_vertices, rising by 3 or more
  std::vector<std::uint32_t> face_vertices;  // [corners]
  std::vector<Vec3f> normals;  // [V] or empty; a vertex of a part without normals has 0 0 0
  // [V] or empty: direction x y z of any length, and handedness w, +1 or -1: cross(normal, x y z) *
  // w is the bitangent. A vertex without a tangent has x y z = 0.
  std::vector<Vec4f> tangents;
  std::vector<std::uint32_t> weld;  // [V] or empty; equal numbers are one point
};

class Mesh {
 public:
  // kInvalidArgument: no vertices, sizes that disagree, a corner out of range, a value that is not
  // finite, a handedness that is neither 1 nor -1, parts that do not cover the vertices. Faces may
  // be degenerate, duplicate or non-manifold.
  static absl::StatusOr<Mesh> Create(MeshSource source);

  std::size_t vertices() const { return source_.positions.size(); }
  std::size_t faces() const { return source_.face_offsets.size() - 1; }
  std::span<const MeshPart> parts() const { return source_.parts; }
  std::span<const Vec3f> positions() const { return source_.positions; }
  std::span<const std::uint32_t> face_offsets() const { return source_.face_offsets; }
  std::span<const std::uint32_t> face_vertices() const { return source_.face_vertices; }
  std::span<const Vec3f> normals() const { return source_.normals; }    // empty = none were given
  std::span<const Vec4f> tangents() const { return source_.tangents; }  // as normals
  std::span<const std::uint32_t> weld() const { return source_.weld; }  // empty = none was given
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

}  // namespace sinew
