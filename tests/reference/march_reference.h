// march_reference.h - the march of Vaillant et al. 2013 in double, directly from its rules, one
// point at a time.
#pragma once

#include <span>
#include <vector>

#include "core/base/types.h"
#include "core/deform/implicit/march/march_rules.h"
#include "core/deform/method/vertex_status.h"
#include "core/rig/rig.h"
#include "tests/reference/implicit_reference.h"

namespace sinew::reference {

struct Marched {
  std::vector<Vec3d> points;         // [V]
  std::vector<VertexStatus> status;  // [V]
};

// Meshes whose bind space is that of the bind pose. Of `limbs` it uses bind, posed, reach and unit.
//
//    posed  [V] result of the previous stages
//    skin   [V] whether a vertex is projected at all, as bound
Marched MarchToRest(const Rig& rig, const LimbDistances& limbs, const MarchRules& rules,
                    std::span<const Vec3d> posed, const std::vector<bool>& skin);

}  // namespace sinew::reference
