// weights_reference.h - skin weights in double, naive: every triangle tested for every ray, dense
// systems, formulas as the sources write them.
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

// Capsules of one radius pair per bone, nothing kept apart: phi / max(d, inner / 20)^power over its
// sum; outside all, 1 for the bone with the least d - inner. One bone a joint.
DenseWeights CapsuleReference(std::span<const Vec3d> points, std::span<const Bone> bones,
                              double inner, double outer, double power);

// Baran and Popovic's system, solved densely. Triangles must have areas and wind outwards.
DenseWeights HeatReference(std::span<const Vec3d> points, const Triangles& triangles,
                           std::span<const Bone> bones, std::size_t joints, double c, bool facing);

}  // namespace sinew::testing
