// gltf_paint.h - the base colours of a glTF file, for pictures of what ImportFile has read of it.
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <string>
#include <vector>

#include "sinew/import.h"

namespace sinew::client {

// Base colour of a vertex: its colour times that of its image there.
struct GltfPaint {
  struct Image {
    std::string type;   // "image/png" or "image/jpeg", by its first bytes
    std::string bytes;  // not decoded
  };
  std::vector<std::uint8_t> colours;  // [V * 4] sRGB and 255: factor of the material, COLOR_0
  std::vector<float> uvs;             // [V * 3] u, v (downwards), the index of the image or -1
  std::vector<Image> images;
  bool lacks_images = false;  // some that meshes have are left out
};

// The paint of the file's materials in the order of the rig's vertices. Images are inside of the
// file or in side files, which lie as those of LoadGltfBuffers; up to 16 and 64 MiB of all: meshes
// of others, and of images that are missing, have -1. `rig` is what ImportFile read of `path`. Both
// lists are empty where the file has neither colours nor images.
// kInvalidArgument: not a glTF file, or not that of the rig.
absl::StatusOr<GltfPaint> ReadGltfPaint(const std::string& path, const RigData& rig);

}  // namespace sinew::client
