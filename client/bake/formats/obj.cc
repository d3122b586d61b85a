#include "client/bake/formats/obj.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <utility>

#include "core/base/status.h"

namespace sinew::bake {
namespace {

std::string SafeName(std::string_view name) {
  std::string safe(name.empty() ? "mesh" : name);
  for (char& c : safe) {
    if (static_cast<unsigned char>(c) <= ' ' || c == '\x7f') c = '_';
  }
  return safe;
}

std::string OneLine(std::string_view text) {
  std::string line(text);
  for (char& c : line) {
    if (static_cast<unsigned char>(c) < ' ' || c == '\x7f') c = ' ';
  }
  return line;
}

void AppendFloat(float value, std::string& out) {
  char text[32];
  const auto result = std::to_chars(text, text + sizeof text, value);
  out.append(text, result.ptr);
}

// Rows of `width` numbers behind `keyword`. `field` names them in errors.
absl::Status AppendRows(const char* keyword, const char* field, std::span<const float> values,
                        std::size_t width, std::string& out) {
  if (values.size() % width != 0) {
    return InvalidArgument("obj.", field, ": ", values.size(), " values, need a multiple of ",
                           width);
  }
  for (std::size_t k = 0; k < values.size(); ++k) {
    if (!std::isfinite(values[k])) {
      return InvalidArgument("obj.", field, "[", k, "]: ", values[k], ", need a finite number");
    }
    out += k % width == 0 ? keyword : " ";
    AppendFloat(values[k], out);
    if (k % width == width - 1) out += '\n';
  }
  return absl::OkStatus();
}

// Texture coordinates of a part, each value once, so that programs find which corners share theirs.
struct TextureCoordinates {
  std::vector<float> values;         // [n * 2]
  std::vector<std::size_t> corners;  // [corners] indices of pairs of `values`; empty without any
};

absl::StatusOr<TextureCoordinates> Unique(const ObjPart& part) {
  TextureCoordinates unique;
  if (part.corner_uvs.empty()) return unique;
  if (part.corner_uvs.size() != part.face_vertices.size() * 2) {
    return InvalidArgument("obj.corner_uvs: ", part.corner_uvs.size(), " values, need ",
                           part.face_vertices.size() * 2, ", two for each corner");
  }
  std::map<std::pair<float, float>, std::size_t> known;
  for (std::size_t k = 0; k < part.corner_uvs.size(); k += 2) {
    const float u = part.corner_uvs[k], v = part.corner_uvs[k + 1];
    const auto [found, is_new] = known.try_emplace({u, v}, unique.values.size() / 2);
    if (is_new) unique.values.insert(unique.values.end(), {u, v});
    unique.corners.push_back(found->second);
  }
  return unique;
}

absl::Status AppendFaces(const ObjPart& part, std::size_t first_vertex,
                         const std::vector<std::size_t>& corner_uvs, std::size_t first_uv,
                         std::string& out) {
  const bool has_normals = !part.normals.empty();
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
      const std::size_t vertex = first_vertex + part.face_vertices[corner] + 1;
      absl::StrAppend(&out, " ", vertex);
      if (!corner_uvs.empty()) absl::StrAppend(&out, "/", first_uv + corner_uvs[corner] + 1);
      if (has_normals) absl::StrAppend(&out, corner_uvs.empty() ? "//" : "/", vertex);
    }
    out += '\n';
  }
  if (corner != corners) {
    return InvalidArgument("obj.face_vertices: ", corners, " corners, faces use ", corner);
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::string> EncodeObj(std::string_view object, std::span<const ObjPart> parts,
                                      std::string_view comment) {
  std::string out;
  if (!comment.empty()) out = absl::StrCat("# ", OneLine(comment), "\n");
  absl::StrAppend(&out, "o ", SafeName(object), "\n");
  std::size_t vertices = 0;
  for (const ObjPart& part : parts) {
    SINEW_RETURN_IF_ERROR(AppendRows("v ", "positions", part.positions, 3, out));
    vertices += part.positions.size() / 3;
  }
  if (vertices == 0) return InvalidArgument("obj: 0 vertices, need at least 1");
  for (const ObjPart& part : parts) {
    SINEW_RETURN_IF_ERROR(AppendRows("vn ", "normals", part.normals, 3, out));
  }
  std::size_t first_vertex = 0, first_uv = 0;
  for (const ObjPart& part : parts) {
    SINEW_ASSIGN_OR_RETURN(const TextureCoordinates uvs, Unique(part));
    SINEW_RETURN_IF_ERROR(AppendRows("vt ", "corner_uvs", uvs.values, 2, out));
    absl::StrAppend(&out, "g ", SafeName(part.name), "\n");
    SINEW_RETURN_IF_ERROR(AppendFaces(part, first_vertex, uvs.corners, first_uv, out));
    first_vertex += part.positions.size() / 3;
    first_uv += uvs.values.size() / 2;
  }
  return out;
}

absl::Status AppendObjPoints(std::span<const float> values, std::string& out) {
  return AppendRows("v ", "positions", values, 3, out);
}

absl::Status AppendObjNormals(std::span<const float> values, std::string& out) {
  return AppendRows("vn ", "normals", values, 3, out);
}

absl::StatusOr<ObjArrays> ReadObjArrays(std::string_view text, std::size_t count) {
  ObjArrays arrays;
  std::size_t number = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    ++number;
    const bool is_normal = line.starts_with("vn ");
    if (!is_normal && !line.starts_with("v ")) continue;
    std::vector<float>& values = is_normal ? arrays.normals : arrays.points;
    const char* at = line.data() + (is_normal ? 3 : 2);
    const char* const last = line.data() + line.size();
    for (int k = 0; k < 3; ++k) {
      float value = 0;
      const auto read = std::from_chars(at, last, value);
      const bool is_end = k == 2 ? read.ptr == last : read.ptr != last && *read.ptr == ' ';
      if (read.ec != std::errc() || !is_end || !std::isfinite(value)) {
        return InvalidArgument("obj: line ", number, ": need three finite numbers");
      }
      values.push_back(value);
      at = read.ptr + 1;
    }
  }
  if (arrays.points.size() != count * 3 ||
      (!arrays.normals.empty() && arrays.normals.size() != count * 3)) {
    return InvalidArgument("obj: ", arrays.points.size() / 3, " points and ",
                           arrays.normals.size() / 3, " normals, need ", count);
  }
  return arrays;
}

}  // namespace sinew::bake
