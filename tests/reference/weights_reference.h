// weights_reference.h - skin weights in double by brute force: every triangle tested for every ray,
// dense systems, formulas as in the sources.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "core/base/types.h"
#include "core/weights/weights.h"

namespace sinew::testing {

using DenseWeights = std::vector<std::vector<double>>;  // [point][joint]
using Triangles = std::vector<std::array<std::uint32_t, 3>>;

// Capsules with one pair of radii per bone and without separation of limbs: phi / max(d, inner /
// 20)^power over its sum; outside all, 1 for the bone with the smallest d - inner. One bone per
// joint.
DenseWeights CapsuleReference(std::span<const Vec3d> points, std::span<const Bone> bones,
                              double inner, double outer, double power);

// Baran and Popovic's system, solved densely. Triangles must have non-zero areas and face outward.
DenseWeights HeatReference(std::span<const Vec3d> points, const Triangles& triangles,
                           std::span<const Bone> bones, std::size_t joints, double c, bool facing);

}  // namespace sinew::testing
