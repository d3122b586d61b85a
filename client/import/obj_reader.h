// obj_reader.h - Wavefront .obj: a mesh without joints and weights, as input for computing them.
#pragma once

#include <absl/status/statusor.h>

#include <string_view>

#include "sinew/import.h"

namespace sinew::client {

// One mesh of all points and faces in the order of the file, whatever objects and groups it names:
// they share one numbering. Corners are numbered up to 2^31 - 1. The unit (0) and the up axis are
// unspecified, as the format has neither. Normals, texture coordinates, lines and curves are left
// out, and the name of the mesh is "mesh". kInvalidArgument: no point, no face, or a line that does
// not read; the message says which. Throws std::bad_alloc, which ImportFile catches. Thread-safe;
// cost O(text).
absl::StatusOr<ImportedScene> ReadObj(std::string_view text);

}  // namespace sinew::client
