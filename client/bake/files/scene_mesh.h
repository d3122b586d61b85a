// scene_mesh.h - the meshes of a cache with their faces, for formats that hold whole meshes.
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "client/bake/formats/manifest.h"

namespace sinew::bake {

struct SceneMesh {
  std::string name;
  std::size_t first_vertex = 0, vertices = 0;  // of the cache's points
  std::vector<std::uint32_t> face_sizes;       // [F] each >= 3
  std::vector<std::uint32_t> face_vertices;    // [corners] indices into this mesh
  std::vector<float> corner_uvs = {};          // [corners * 2], v upwards; or empty
};

struct CacheScene {
  std::vector<SceneMesh> meshes;
  double meters_per_unit = 1;
  std::string up_axis;  // "Y", "Z" or "": unknown
};

// Reads the rest mesh that goes with a part, as EncodeObj writes it, whose cache `manifest`
// describes. kDataLoss: it is damaged, or of another cache.
absl::StatusOr<CacheScene> ReadRestMesh(std::string_view obj, const Manifest& manifest);

}  // namespace sinew::bake
