// lbs_reference.h - linear blend skinning in double, directly from the formula.
#pragma once

#include <span>
#include <vector>

#include "core/base/types.h"
#include "core/rig/influences.h"

namespace sinew::reference {

// v_i = sum_j w_ij M_j u_i.
//   rest  [V];  skin  [E] rest to posed
std::vector<Vec3d> Lbs(std::span<const Vec3d> rest, const Influences& influences,
                       std::span<const AffineD> skin);

}  // namespace sinew::reference
