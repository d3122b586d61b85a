// spherical_blend_reference.h - spherical blend skinning in double, directly from the formulas.
#pragma once

#include <span>
#include <vector>

#include "core/base/types.h"
#include "core/rig/rig.h"

namespace sinew::reference {

// A term of the fit of a rotation centre: a binding and its weight (1 in the paper).
struct CentreTerm {
  std::size_t binding;
  double weight;
};

// argmin over r of sum_{a<b} w_a w_b (|m_a r - m_b r|^2 + (1e-2)^2 |r - expected|^2), from the
// stacked rows of all pairs. m_j = [R_j | M_j c_j - R_j c_j], c_j the bind origin of the joint.
//
//    skin  [E] rest to posed
Vec3d RotationCentre(const Rig& rig, std::span<const AffineD> skin,
                     std::span<const CentreTerm> terms, const Vec3d& expected);

// Mean bind origin of the terms' joints with an ancestor among them; else the bind origin of the
// lowest common ancestor, which must be bound; else the mean of all.
Vec3d ExpectedCentre(const Rig& rig, std::span<const CentreTerm> terms);

// v = sum w M u + (R - sum w R_j) (u - r). Signs of quaternions follow the influence with the
// largest weight.
//
//    points  [V] points to move, the rest points or displaced by shapes;  per_set  equal weights in
//    r
std::vector<Vec3d> SphericalBlend(const Rig& rig, std::span<const AffineD> skin,
                                  std::span<const Vec3d> points, bool per_set);

}  // namespace sinew::reference
