// problems.h - what an import reports about a rig of any source format.
#pragma once

#include "client/import/import.h"

namespace sinew::client {

// Appends to `scene.problems`: vertices with more than 4 influences, joints without weights, a
// vertex order that is not the file's.
void AddRigProblems(ImportedScene& scene);

}  // namespace sinew::client
