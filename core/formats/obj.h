// obj.h - a rest mesh as Wavefront .obj: positions and polygon faces, in cache order.
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
};

// The whole file. Numbers are the shortest that parse back to the same float32. Characters in names
// that .obj cannot represent (blanks, control characters) become '_'. kInvalidArgument: no vertex,
// a position not finite, face sizes that do not add up, an index out of range.
absl::StatusOr<std::string> EncodeObj(std::string_view object, std::span<const ObjPart> parts);

}  // namespace sinew
