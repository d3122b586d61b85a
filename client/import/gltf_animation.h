// gltf_animation.h - the clips of a glTF file as tracks.
#pragma once

#include <absl/status/status.h>

#include "client/import/scene_graph.h"
#include "client/import/tinygltf.h"

namespace sinew::client {

// Adds every animation. The nodes of `builder` are parallel to the model's. kInvalidArgument:
// missing samplers or nodes, wrong counts, times that fall, unknown interpolation.
absl::Status ReadGltfAnimations(const tinygltf::Model& model, SceneBuilder& builder);

}  // namespace sinew::client
