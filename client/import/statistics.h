// statistics.h - figures about a rig that are the same for every source format.
#pragma once

#include "client/import/import.h"

namespace sinew::client {

// Completes `scene.statistics` (vertices, faces, triangles, joints without weights) from the rig
// and adds the problems that follow from it. `statistics.meshes` must be parallel to `rig.meshes`.
void CompleteStatistics(ImportedScene& scene);

}  // namespace sinew::client
