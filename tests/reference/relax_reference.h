// relax_reference.h - tangential relaxation in double, directly from its definition.
#pragma once

#include <span>
#include <vector>

#include "core/base/types.h"
#include "core/deform/relax/relax_params.h"
#include "core/rig/rig.h"

namespace sinew::reference {

// Every pass moves a point along the surface towards where its neighbours' mean-value weights at
// rest place it, by `strength` and less at ridges. For closed triangle meshes.
//
//    posed  [V] result of the previous stages
std::vector<Vec3d> Relaxed(const Rig& rig, const RelaxParams& params, std::span<const Vec3d> posed);

}  // namespace sinew::reference
