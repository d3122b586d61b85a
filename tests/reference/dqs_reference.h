// dqs_reference.h - dual quaternion skinning in double, directly from the formulas.
#pragma once

#include <span>
#include <vector>

#include "core/base/types.h"
#include "core/rig/influences.h"

namespace sinew::reference {

// Kavan et al. 2008; signs follow the influence with the largest weight (ties: lowest binding). A
// non-rigid joint moves vertex u by [R_j | M_j u - R_j u], R_j the nearest rotation of its linear
// part.
//
//    rest  [V];  skin  [E] rest to posed
std::vector<Vec3d> Dqs(std::span<const Vec3d> rest, const Influences& influences,
                       std::span<const AffineD> skin);

// Dqs with each binding's quaternion in its parent's hemisphere, for all vertices; falls back to
// Dqs where the blended real part is shorter than 0.1.
//
//    parent  [E] binding of the parent joint, before its children; kNoParent = a root
std::vector<Vec3d> DqsByParent(std::span<const Vec3d> rest, const Influences& influences,
                               std::span<const AffineD> skin,
                               std::span<const std::uint32_t> parent);

// The orthogonal factor of a matrix by SVD; of a singular one, that with determinant +1.
Mat3d OrthogonalBySvd(const Mat3d& a);
// OrthogonalBySvd(a), times -1 if the matrix mirrors: a rotation.
Mat3d RotationBySvd(const Mat3d& a);

}  // namespace sinew::reference
