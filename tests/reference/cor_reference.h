// cor_reference.h - centres of rotation in double, directly from the formulas: every vertex against
// every triangle.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/types.h"
#include "core/rig/influences.h"
#include "core/rig/rig.h"

namespace sinew::reference {

struct CorReferenceParams {
  double sigma = 0.1;
  bool refine = true;
  std::size_t max_influences = 0;  // 0 = all
};

// [V] centres in bind space. Le and Hodgins 2016 with one sample per triangle; with refine the side
// with the largest weight difference is halved until none exceeds 0.1 (ties within 1e-9: the first
// of 01, 12, 20).
std::vector<Vec3d> CorCentres(const Rig& rig, const CorReferenceParams& params);

// v = sum w M u + (R - sum w R_j) (u - p), R the normalised sum of quaternions in the strongest
// joint's hemisphere.
//
//    points  [V] u;  centres  [V] p;  skin  [E]
std::vector<Vec3d> CorPosed(std::span<const Vec3d> points, std::span<const Vec3d> centres,
                            const Influences& influences, std::span<const AffineD> skin);

}  // namespace sinew::reference
