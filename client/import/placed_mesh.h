// placed_mesh.h - moves a mesh without a skin: from the space of its node to that of the scene, or
// to another skeleton.
#pragma once

#include "core/base/types.h"
#include "sinew/rig_data.h"

namespace sinew::client {

// Moves positions, normals, tangents and shape offsets. A mirroring turns faces and handedness
// over, so that outside stays outside. Normals become unit vectors; those of a singular transform
// are dropped.
void PlaceMesh(const AffineD& world, Mesh& mesh);

}  // namespace sinew::client
