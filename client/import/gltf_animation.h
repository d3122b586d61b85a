// gltf_animation.h - the clips of a glTF file as tracks.
#pragma once

#include <absl/status/status.h>

#include <vector>

#include "client/import/import.h"
#include "client/import/scene_graph.h"
#include "client/import/tinygltf.h"

namespace sinew::client {

// Appends every animation to `scene.clips` and `clips`; tracks of one node are consecutive.
// `scene.nodes` parallel to the model's. Channels that target no node are reported as lost.
// kInvalidArgument: missing samplers or nodes, wrong counts, times that fall, unknown
// interpolation.
absl::Status ReadGltfAnimations(const tinygltf::Model& model, AnimatedScene& scene,
                                std::vector<ClipInfo>& clips, std::vector<Problem>& problems);

}  // namespace sinew::client
