// normals_reference.h - area-weighted vertex normals in double, one vertex at a time.
#pragma once

#include <span>
#include <vector>

#include "core/base/types.h"
#include "core/mesh/mesh.h"

namespace sinew::reference {

// Unit sum of the vector areas (Newell) of the faces around a point; 0 0 0 if it vanishes.
//
//    positions  [V];  point  [V] vertices with equal numbers are one point
std::vector<Vec3d> Normals(const Mesh& mesh, std::span<const std::uint32_t> point,
                           std::span<const Vec3d> positions);

}  // namespace sinew::reference
