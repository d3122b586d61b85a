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

// The nearest joint at or above `node`, or the topmost node if there is none. If a clip moves a
// node on the way there, `node` itself.
//   is_joint, is_animated  [nodes]
Carrier FindCarrier(const AnimatedScene& scene, std::uint32_t node,
                    const std::vector<bool>& is_joint, const std::vector<bool>& is_animated);

// Binds the vertices from `first` to the end of `mesh`, whose skin has no influences of them yet,
// to the carrier alone. `joint`: that of the carrier's node, into RigData::joints.
void BindToCarrier(const Carrier& carrier, std::uint32_t joint, std::size_t first, Mesh& mesh);

}  // namespace sinew::client
