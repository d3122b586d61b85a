#include "core/formats/obj.h"

#include <absl/strings/str_cat.h>

#include <charconv>
#include <cmath>

#include "core/base/status.h"

namespace sinew {
namespace {

std::string SafeName(std::string_view name) {
  std::string safe(name.empty() ? "mesh" : name);
  for (char& c : safe) {
    if (static_cast<unsigned char>(c) <= ' ' || c == '\x7f') c = '_';
  }
  return safe;
}

void AppendFloat(float value, std::string& out) {
  char text[32];
  const auto result = std::to_chars(text, text + sizeof text, value);
  out.append(text, result.ptr);
}

absl::Status AppendVertices(const ObjPart& part, std::string& out) {
  if (part.positions.size() % 3 != 0) {
    return InvalidArgument("obj.positions: ", part.positions.size(),
                           " values, need a multiple of 3");
  }
  for (std::size_t k = 0; k < part.positions.size(); ++k) {
    if (!std::isfinite(part.positions[k])) {
      return InvalidArgument("obj.positions[", k, "]: ", part.positions[k],
                             ", need a finite number");
    }
    out += k % 3 == 0 ? "v " : " ";
    AppendFloat(part.positions[k], out);
    if (k % 3 == 2) out += '\n';
  }
  return absl::OkStatus();
}

absl::Status AppendFaces(const ObjPart& part, std::size_t first_vertex, std::string& out) {
  const std::size_t vertices = part.positions.size() / 3, corners = part.face_vertices.size();
  const std::size_t faces = part.face_sizes.empty() ? corners / 3 : part.face_sizes.size();
  std::size_t corner = 0;
  for (std::size_t f = 0; f < faces; ++f) {
    const std::size_t size = part.face_sizes.empty() ? 3 : part.face_sizes[f];
    if (size < 3 || size > corners - corner) {
      return InvalidArgument("obj.face_sizes[", f, "]: ", size, ", need 3 to the ",
                             corners - corner, " corners left in face_vertices");
    }
    out += 'f';
    for (const std::size_t end = corner + size; corner < end; ++corner) {
      if (part.face_vertices[corner] >= vertices) {
        return InvalidArgument("obj.face_vertices[", corner, "]: ", part.face_vertices[corner],
                               ", mesh has 0..", vertices - 1);
      }
      absl::StrAppend(&out, " ", first_vertex + part.face_vertices[corner] + 1);
    }
    out += '\n';
  }
  if (corner != corners) {
    return InvalidArgument("obj.face_vertices: ", corners, " corners, faces use ", corner);
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::string> EncodeObj(std::string_view object, std::span<const ObjPart> parts) {
  std::string out = absl::StrCat("o ", SafeName(object), "\n");
  std::size_t vertices = 0;
  for (const ObjPart& part : parts) {
    SINEW_RETURN_IF_ERROR(AppendVertices(part, out));
    vertices += part.positions.size() / 3;
  }
  if (vertices == 0) return InvalidArgument("obj: 0 vertices, need at least 1");
  std::size_t first_vertex = 0;
  for (const ObjPart& part : parts) {
    absl::StrAppend(&out, "g ", SafeName(part.name), "\n");
    SINEW_RETURN_IF_ERROR(AppendFaces(part, first_vertex, out));
    first_vertex += part.positions.size() / 3;
  }
  return out;
}

}  // namespace sinew
