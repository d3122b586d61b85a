// placed_mesh.h - meshes without a skin: from the space of their node to that of the scene.
#pragma once

#include <cstddef>

#include "client/import/scene_graph.h"
#include "client/rig/transform.h"
#include "sinew/rig_data.h"

namespace sinew::client {

// Node to scene space, without animation.
Affine WorldTransform(const AnimatedScene& scene, std::size_t node);

// Moves positions, normals, tangents and shape offsets. A mirroring turns faces and handedness
// over, so that outside stays outside. Normals of a singular transform are dropped.
void PlaceMesh(const Affine& world, Mesh& mesh);

}  // namespace sinew::client
