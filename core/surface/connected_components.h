// connected_components.h - the connected components of a skin and their roles.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/rig/rig.h"
#include "core/surface/adjacency.h"

namespace sinew {

enum class ComponentRole : std::uint8_t {
  kSkin,               // deformable skin: holds at least half of some joint's area
  kRigidComponent,     // rigid or closed without being skin: moved by joints alone (separate limbs,
                       // balls in the joints of a segmented doll)
  kAttachedComponent,  // attached to other skin: eyes, buttons, nails, clothes
};

// Bytes FindComponentRoles needs per joint and per binding.
inline constexpr std::size_t kComponentJointBytes = 160;

// [P] role of each welded point's component. A joint's area is that of the points it influences
// most, in the bind pose. Components of zero area are attached. Linear; needs about 40 bytes per
// vertex.
//
//    ring    neighbours along the edges of triangles
//    border  [P] of BorderPoints
std::vector<ComponentRole> FindComponentRoles(const Rig& rig, const WeldedPoints& welded,
                                              const Adjacency& ring,
                                              std::span<const std::uint8_t> border);

}  // namespace sinew
