// collada_animation.h - the clips of a COLLADA file, read from its XML.
//
// Assimp drops the interpolation of keys and mixes channels of one rotation that have keys at
// different times. Here every channel drives its own numbers of its own element, and the elements
// of a node are multiplied in the order of the file, in double.
#pragma once

#include <absl/status/status.h>

#include <vector>

#include "client/import/collada_document.h"
#include "client/import/collada_nodes.h"
#include "client/import/scene_graph.h"

namespace sinew::client {

// Gives the nodes of the scene, which Assimp has read, the rest transforms of the file. `nodes` is
// from ReadColladaNodes, parallel to those of the scene.
// kInvalidArgument: Assimp has read other nodes, or a transform is none.
absl::Status PlaceColladaNodes(const std::vector<ColladaNode>& nodes, AnimatedScene& scene);

// Adds the clips; the scene has its joints.
//   With a library_animation_clips each <animation_clip> is a clip, its times count from its start,
//   and outside of it its first and last pose hold; animations in no clip are reported as lost.
//   Without one all animations run together, which is one clip, called "animation", with the times
//   of the file. Where two <animation> at the top of the library drive the same number, each is a
//   clip of its own.
// Channels that drive no node of the scene are reported as lost.
//   The nodes that count are joints and those above them, or `every_node`: what a clip file is for
//   may have joints that its own scene does not know as such. Channels of other nodes are left out.
// kInvalidArgument, with the channel's target: a channel of a node that counts cannot be evaluated
// (see ResolveColladaTarget and ReadColladaCurve); two channels that drive the same number; a clip
// that ends before it begins, or has a formula.
absl::Status AddColladaClips(const ColladaDocument& document, const std::vector<ColladaNode>& nodes,
                             bool every_node, SceneBuilder& builder);

}  // namespace sinew::client
