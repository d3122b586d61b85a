// skin_shells.h - the connected components of a skin, and what a field means to each.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/types.h"
#include "core/geometry/adjacency.h"
#include "core/rig/rig.h"

namespace sinew {

enum class Shell : std::uint8_t {
  kSkin,    // some part owes it at least half of its area
  kPuppet,  // its own shape, that joints alone move: what one joint carries of a single part's
            // skin, and closed pieces that bend but are not skin (the balls in a puppet's joints)
  kIsland,  // lies on others: eyes, buttons, nails, clothes
};

// [P] of the component a welded point belongs to.
//   ring            neighbours along the edges of triangles
//   border          [P] 1 = on an open border
//   places          [P] in the bind pose
//   part_of_vertex  [V] below `parts`, -1 = none
std::vector<Shell> FindShells(const Rig& rig, const WeldedPoints& welded, const Adjacency& ring,
                              std::span<const std::uint8_t> border, std::span<const Vec3f> places,
                              std::span<const std::int32_t> part_of_vertex, std::size_t parts);

}  // namespace sinew
