// shapes_reference.h - blend shapes in double, dense, from their definition.
#pragma once

#include <span>
#include <vector>

#include "core/base/types.h"
#include "core/rig/rig.h"

namespace sinew::reference {

// Rest positions plus all shapes: each is a polyline through (0, no offset) and its targets.
std::vector<Vec3d> ShapedRest(const Rig& rig, std::span<const float> controls, double strength = 1);

}  // namespace sinew::reference
