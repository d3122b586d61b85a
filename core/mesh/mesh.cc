#include "core/mesh/mesh.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/status.h"

namespace sinew {
namespace {

// Layouts store vertices as int32.
constexpr std::size_t kMaxVertices = std::numeric_limits<std::int32_t>::max();

// Tolerates handedness that was stored in 8 bits.
constexpr float kHandednessRounding = 0.01f;

absl::Status Invalid(const std::string& message) {
  return absl::InvalidArgumentError(message);
}

absl::Status CheckFinite(std::string_view field, std::span<const Vec3f> values) {
  for (std::size_t v = 0; v < values.size(); ++v) {
    const Vec3f& p = values[v];
    if (!std::isfinite(p.x) || !std::isfinite(p.y) || !std::isfinite(p.z)) {
      return Invalid(absl::StrCat(AbslView(field), ": vertex ", v, " is (", p.x, ", ", p.y, ", ",
                                  p.z, "), need finite numbers"));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckTangents(std::span<const Vec4f> tangents) {
  for (std::size_t v = 0; v < tangents.size(); ++v) {
    const Vec4f& t = tangents[v];
    const bool finite = std::isfinite(t.x) && std::isfinite(t.y) && std::isfinite(t.z);
    const bool absent = t.x == 0 && t.y == 0 && t.z == 0;
    if (!finite || !std::isfinite(t.w) ||
        (!absent && std::abs(std::abs(t.w) - 1) > kHandednessRounding)) {
      return Invalid(absl::StrCat("tangents: vertex ", v, " is (", t.x, ", ", t.y, ", ", t.z, ", ",
                                  t.w, "), need finite numbers, the last of them 1 or -1"));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckVertexArrays(const MeshSource& source) {
  const std::size_t vertices = source.positions.size();
  if (vertices == 0) return Invalid("positions: no vertices, need at least 1");
  if (vertices > kMaxVertices) {
    return Invalid(absl::StrCat("positions: ", vertices, " vertices, at most ", kMaxVertices));
  }
  if (!source.normals.empty() && source.normals.size() != vertices) {
    return Invalid(absl::StrCat("normals: ", source.normals.size(), " values, need ", vertices,
                                " (one per vertex) or none"));
  }
  if (!source.tangents.empty() && source.tangents.size() != vertices) {
    return Invalid(absl::StrCat("tangents: ", source.tangents.size(), " values, need ", vertices,
                                " (one per vertex) or none"));
  }
  if (!source.weld.empty() && source.weld.size() != vertices) {
    return Invalid(absl::StrCat("weld: ", source.weld.size(), " values, need ", vertices,
                                " (one per vertex) or none"));
  }
  SINEW_RETURN_IF_ERROR(CheckFinite("positions", source.positions));
  SINEW_RETURN_IF_ERROR(CheckFinite("normals", source.normals));
  return CheckTangents(source.tangents);
}

absl::Status CheckFaces(const MeshSource& source) {
  const auto& offsets = source.face_offsets;
  if (offsets.empty() || offsets.front() != 0 || offsets.back() != source.face_vertices.size()) {
    return Invalid(absl::StrCat(
        "face_offsets: ", offsets.size(), " values",
        offsets.empty() ? "" : absl::StrCat(" from ", offsets.front(), " to ", offsets.back()),
        ", need them to run from 0 to ", source.face_vertices.size(), " (the number of corners)"));
  }
  for (std::size_t f = 0; f + 1 < offsets.size(); ++f) {
    if (offsets[f + 1] < offsets[f] || offsets[f + 1] - offsets[f] < 3) {
      return Invalid(absl::StrCat("face_offsets: face ", f, " runs from ", offsets[f], " to ",
                                  offsets[f + 1], ", need at least 3 corners"));
    }
  }
  return absl::OkStatus();
}

// Parts are contiguous and in order, and faces stay within their part.
absl::Status CheckParts(const MeshSource& source) {
  std::size_t vertex = 0, face = 0;
  const std::size_t faces = source.face_offsets.size() - 1;
  for (const MeshPart& part : source.parts) {
    if (part.vertex_offset != vertex || part.face_offset != face ||
        part.vertex_count > source.positions.size() - vertex || part.face_count > faces - face) {
      return Invalid(absl::StrCat(
          "parts: '", part.name, "' has ", part.vertex_count, " vertices from ", part.vertex_offset,
          " and ", part.face_count, " faces from ", part.face_offset, ", need vertices from ",
          vertex, " and faces from ", face, ", within ", source.positions.size(), " and ", faces));
    }
    const std::size_t vertex_end = vertex + part.vertex_count, face_end = face + part.face_count;
    for (std::size_t f = face; f < face_end; ++f) {
      for (std::size_t c = source.face_offsets[f]; c < source.face_offsets[f + 1]; ++c) {
        const std::uint32_t v = source.face_vertices[c];
        if (v < vertex || v >= vertex_end) {
          return Invalid(absl::StrCat("face_vertices: face ", f - face, " of '", part.name,
                                      "' has vertex ", v, ", need ", vertex, " to ", vertex_end,
                                      " (exclusive)"));
        }
      }
    }
    vertex = vertex_end;
    face = face_end;
  }
  if (vertex != source.positions.size() || face != faces) {
    return Invalid(absl::StrCat("parts: cover ", vertex, " vertices and ", face, " faces, need ",
                                source.positions.size(), " and ", faces));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Mesh> Mesh::Create(MeshSource source) {
  SINEW_RETURN_IF_ERROR(CheckVertexArrays(source));
  SINEW_RETURN_IF_ERROR(CheckFaces(source));
  SINEW_RETURN_IF_ERROR(CheckParts(source));
  Mesh mesh(std::move(source));
  mesh.minimum_ = mesh.maximum_ = ToDouble(mesh.source_.positions.front());
  for (const Vec3f& p : mesh.source_.positions) {
    const Vec3d q = ToDouble(p);
    mesh.minimum_ = {std::min(mesh.minimum_.x, q.x), std::min(mesh.minimum_.y, q.y),
                     std::min(mesh.minimum_.z, q.z)};
    mesh.maximum_ = {std::max(mesh.maximum_.x, q.x), std::max(mesh.maximum_.y, q.y),
                     std::max(mesh.maximum_.z, q.z)};
  }
  return mesh;
}

double Mesh::diagonal() const {
  const Vec3d extent = maximum_ - minimum_;
  return std::sqrt(Dot(extent, extent));
}

}  // namespace sinew
