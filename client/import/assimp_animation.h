// assimp_animation.h - the clips of an Assimp scene as tracks.
#pragma once

#include <absl/status/status.h>
#include <assimp/scene.h>

#include <cstdint>
#include <string>
#include <unordered_map>

#include "client/import/scene_graph.h"

namespace sinew::client {

// Adds every animation. All keys are linear: Assimp has baked or dropped the rest.
//   node_of_name  the node of a channel's name
// Channels whose node or mesh is unknown are reported as lost. kInvalidArgument: times that fall,
// bad numbers.
absl::Status ReadAssimpAnimations(
    const aiScene& source, const std::unordered_map<std::string, std::uint32_t>& node_of_name,
    SceneBuilder& builder);

}  // namespace sinew::client
