// collada_skin.h - which nodes the joints of a COLLADA skin are.
#pragma once

#include <absl/status/status.h>

#include "client/import/collada_document.h"

namespace sinew::client {

// Replaces the joint names of every skin by the ids of the nodes they mean, so that Assimp finds
// those. By itself it takes the first node of that name or sid, whatever the skeleton: of two
// characters with equal joints one would follow the other.
//
// Source: COLLADA 1.4.1, <skeleton> and <skin>: a name is the sid of a node in a skeleton of the
// <instance_controller>. Names that are none are left to Assimp.
// kInvalidArgument: a controller is instanced with different skeletons.
absl::Status NameColladaJointsById(ColladaDocument& document);

}  // namespace sinew::client
