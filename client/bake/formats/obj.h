// obj.h - a mesh as Wavefront .obj: positions, polygon faces, normals and texture coordinates, in
// cache order.
//
// For characters whose importer could not keep the file's vertex order: a cache applies to this
// mesh. Several meshes become groups of one object, because separate objects would break the common
// vertex numbering.
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sinew::bake {

struct ObjPart {
  std::string name;
  std::span<const float> positions;              // [V * 3] finite
  std::span<const std::uint32_t> face_sizes;     // [F] each >= 3; empty = all triangles
  std::span<const std::uint32_t> face_vertices;  // [sum of face sizes] into this part
  std::span<const float> corner_uvs = {};        // [sum of face sizes * 2] finite, or empty
  std::span<const float> normals = {};           // [V * 3] finite, or empty: in all parts or none
};

// The whole file. `comment` comes first, in one line; .obj itself has neither unit nor axes.
// Numbers are the shortest that parse back to the same float32. Characters in names that .obj
// cannot represent (blanks, control characters) become '_'. kInvalidArgument: no vertex, a number
// not finite, face sizes that do not add up, an index out of range, texture coordinates of another
// count.
absl::StatusOr<std::string> EncodeObj(std::string_view object, std::span<const ObjPart> parts,
                                      std::string_view comment = {});

// The lines of points ("v") or normals ("vn") alone. kInvalidArgument: a number not finite.
absl::Status AppendObjPoints(std::span<const float> values, std::string& out);
absl::Status AppendObjNormals(std::span<const float> values, std::string& out);

// The points of an .obj, as EncodeObj writes it, with `count` of them: [count * 3]; and its
// normals, or nothing where it has none. kInvalidArgument: another count, or a line that does not
// read.
struct ObjArrays {
  std::vector<float> points, normals;
};
absl::StatusOr<ObjArrays> ReadObjArrays(std::string_view text, std::size_t count);

}  // namespace sinew::bake
