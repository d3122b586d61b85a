// rigid_mesh.h - joints for meshes without weights in a file with skins: eyes, hats, weapons.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "client/import/scene_graph.h"
#include "core/base/types.h"
#include "sinew/rig_data.h"

namespace sinew::client {

// What moves the vertices that have no weights.
struct Carrier {
  std::uint32_t node = 0;  // must become a joint, if it is none
  AffineD to_carrier;      // from the space of the mesh's node to that of the carrier, at rest
};

// [nodes] The carrier of each node: the nearest one at or above it that is a joint or moves alone,
// or the topmost node. Cost O(nodes).
//   is_joint     [nodes]
//   moves_alone  [nodes] whether a clip can change the transform of the node to its parent
std::vector<Carrier> FindCarriers(const AnimatedScene& scene, const std::vector<bool>& is_joint,
                                  const std::vector<bool>& moves_alone);

// Binds the vertices from `first` to the end of `mesh`, whose skin has no influences of them yet,
// to the carrier alone. `joint`: that of the carrier's node, into RigData::joints.
void BindToCarrier(const Carrier& carrier, std::uint32_t joint, std::size_t first, Mesh& mesh);

}  // namespace sinew::client
