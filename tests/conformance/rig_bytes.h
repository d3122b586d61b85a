// rig_bytes.h - a rig of the core as the message that clients upload.
#pragma once

#include <absl/status/statusor.h>

#include <cstddef>
#include <span>
#include <string>

#include "core/rig/rig.h"

namespace sinew::conformance {

// Vertices and faces of one mesh of the message; numbers of faces are relative to it.
struct MeshRange {
  std::string name;
  std::size_t first_vertex = 0, vertices = 0, first_face = 0, faces = 0;
};

// Positions and offsets are rounded to multiples of 2^-16, weights of 2^-12 with a sum of
// exactly 1. Weights are in the order of the source; `bindings` of it are its joints. Shapes with
// one target at 1 list every vertex.
//   kInternal: a source that this cannot represent.
absl::StatusOr<std::string> RigBytes(const std::string& label, const RigSource& source,
                                     std::span<const MeshRange> meshes);

}  // namespace sinew::conformance
