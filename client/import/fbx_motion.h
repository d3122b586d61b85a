// fbx_motion.h - the clips of an FBX file, evaluated by ufbx at the times that are asked for.
#pragma once

#include <cstdint>
#include <vector>

#include "client/import/fbx_document.h"
#include "client/import/scene_graph.h"

namespace sinew::client {

// `node` relative to its parent, as it is in the scene: a product of these matrices places every
// node, whatever part of its parent's scale it inherits.
AffineD FbxLocalMatrix(const ufbx_node& node);

// Adds every animation stack as a clip. A clip begins at the start of its take; where the file does
// not say what the take is, at its first key.
//   channels  [K] the index in the file of the blend channel that drives each control
void AddFbxClips(const FbxScene& scene, std::vector<std::uint32_t> channels, SceneBuilder& builder);

}  // namespace sinew::client
