// placed_mesh.h - moves a mesh without a skin: from the space of its node to that of the scene, or
// to another skeleton.
#pragma once

#include <span>

#include "core/base/types.h"
#include "sinew/rig_data.h"

namespace sinew::client {

// Moves positions, normals, tangents and shape offsets. A mirroring turns faces over, so that
// outside stays outside. Normals become unit vectors; those of a singular transform are dropped.
//   corner_uvs  [sum of face sizes * 2] texture coordinates of the face corners, or empty
void PlaceMesh(const AffineD& world, Mesh& mesh, std::span<float> corner_uvs);

// Reverses the corners of every face but its first, with their texture coordinates, and the
// handedness of tangents.
void TurnFacesOver(Mesh& mesh, std::span<float> corner_uvs);

}  // namespace sinew::client
