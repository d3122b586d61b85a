// unweighted.h - joints for the vertices of a skin that have none.
#pragma once

#include <absl/status/status.h>

#include "sinew/import.h"

namespace sinew::client {

// SceneNode::path of the joint that kStill appends, which is not in the file.
inline constexpr char kStillPath[] = "unweighted: still";

// Binds the vertices without weights of all meshes that have a skin, and adds a warning for each
// such mesh. kStill appends a joint without a parent to the rig and its node to the animation.
//   kInvalidArgument: kRefuse and there are some; kNearest and a mesh has no weights at all. The
//   message begins with the mesh's place in the file.
absl::Status BindUnweighted(Unweighted choice, ImportedScene& scene);

}  // namespace sinew::client
