// dqs_reference.h - dual quaternion skinning in double, straight from the formulas.
#pragma once

#include <span>
#include <vector>

#include "core/base/types.h"
#include "core/rig/influences.h"

namespace sinew::reference {

// Kavan et al. 2008; signs follow the influence of largest weight (ties: lowest binding). A joint
// that is not rigid moves vertex u by [R_j | M_j u - R_j u], R_j the nearest rotation of its linear
// part.
//   rest  [V];  skin  [E] rest to posed
std::vector<Vec3d> Dqs(std::span<const Vec3d> rest, const Influences& influences,
                       std::span<const AffineD> skin);

// The same with each binding's quaternion on the side of its parent's, once for all vertices; where
// the blended real part is shorter than 0.1, as above.
//   parent  [E] binding of the parent joint, before its children; kNoParent = a root
std::vector<Vec3d> DqsByParent(std::span<const Vec3d> rest, const Influences& influences,
                               std::span<const AffineD> skin,
                               std::span<const std::uint32_t> parent);

// The rotation part of a matrix, determinant +1: the orthogonal factor of its singular values. A
// mirror is taken as one of the x axis and left to the stretch.
Mat3d RotationBySvd(const Mat3d& a);

}  // namespace sinew::reference
