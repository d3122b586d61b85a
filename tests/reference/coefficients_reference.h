// coefficients_reference.h - animation space and multi-weight enveloping in double, from the
// definition of Coefficients in rig.proto.
#pragma once

#include <span>
#include <vector>

#include "core/base/types.h"
#include "core/rig/rig.h"

namespace sinew::reference {

// One influence of a vertex: `values` are 4 or 12, as in the rig.
struct Influence {
  std::uint32_t matrix = 0;  // index into the matrices
  std::vector<double> values;
};

// v = sum_j (weight_j M_j u + A_j offset_j).
Vec3d AnimationSpace(const Vec3d& rest, std::span<const Influence> influences,
                     std::span<const AffineD> matrices);

// Evaluates each row of N_j = M_d^-1 M_j like AnimationSpace, then moves the result by M_d. The
// main joint d is that of the first influence.
Vec3d MultiWeight(const Vec3d& rest, std::span<const Influence> influences,
                  std::span<const AffineD> matrices);

// [V] the whole rig, with its coefficients. skin: [E] rest to posed
std::vector<Vec3d> WithCoefficients(const Rig& rig, std::span<const AffineD> skin);

}  // namespace sinew::reference
