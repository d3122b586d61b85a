// connected_components.h - the connected components of a skin, and what moves each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/rig/rig.h"
#include "core/surface/adjacency.h"

namespace sinew {

enum class Shell : std::uint8_t {
  kSkin,            // some joint owes it at least half of its area
  kRigidComponent,  // its own shape, that joints alone move: what one joint carries of its own
                    // skin, and closed pieces that bend but are not skin (the balls in a puppet's
                    // joints)
  kAttachedComponent,  // lies on others: eyes, buttons, nails, clothes
};

// Held by FindShells for each joint and each binding.
inline constexpr std::size_t kShellJointBytes = 160;

// [P] of the component a welded point belongs to. A joint's skin is what it carries most of; areas
// are those of the bind pose. Pieces without area are islands. Linear; holds some 40 bytes a vertex
// beside.
//   ring    neighbours along the edges of triangles
//   border  [P] as BorderPoints finds them
std::vector<Shell> FindShells(const Rig& rig, const WeldedPoints& welded, const Adjacency& ring,
                              std::span<const std::uint8_t> border);

}  // namespace sinew
