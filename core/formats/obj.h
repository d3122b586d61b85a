// obj.h - a rest mesh as Wavefront .obj: positions, polygon faces and texture coordinates, in cache
// order.
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

namespace sinew {

struct ObjPart {
  std::string name;
  std::span<const float> positions;              // [V * 3] finite
  std::span<const std::uint32_t> face_sizes;     // [F] each >= 3; empty = all triangles
  std::span<const std::uint32_t> face_vertices;  // [sum of face sizes] into this part
  std::span<const float> corner_uvs = {};        // [sum of face sizes * 2] finite, or empty
};

// The whole file. `comment` comes first, in one line; .obj itself has neither unit nor axes.
// Numbers are the shortest that parse back to the same float32. Characters in names that .obj
// cannot represent (blanks, control characters) become '_'. kInvalidArgument: no vertex, a number
// not finite, face sizes that do not add up, an index out of range, texture coordinates of another
// count.
absl::StatusOr<std::string> EncodeObj(std::string_view object, std::span<const ObjPart> parts,
                                      std::string_view comment = {});

}  // namespace sinew
