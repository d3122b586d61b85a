// heat.h - weights as equilibrium heat conducted over the skin from the bones.
//
// Source: Baran and Popovic 2007. Per joint b solve
//
//    (K + M H) w_b = M H p_b
//
// with K the stiffness and M the lumped mass of the skin (stiffness.h) and, at point i,
//
//    H_i = n c / d^2      d = distance to the nearest joint's bones, at least 1e-3 of the median d
//    p_b = 1 / n          for the n visible joints within 1e-4 of d, else 0
//
// H = 0 where none is visible; on a connected component where no point sees any, every point is
// heated by its nearest joint. The rows of all w sum to 1, because K maps constants to 0. c = 1 is
// the paper's formula; Blender's area weights correspond to c = 4, Pinocchio's to 3. On a long tube
// of radius R a bone's weight is 1/2 at its end and then falls as exp(-x sqrt(c) / R).
//
// The distance d is divided by (1.001 + cos) / 2, as in Blender (3.4, an option), cos between the
// normal and the direction from bone to point, so bones on the outer side of the skin count as far
// away. Not taken from Blender: cotangents divided by the number of faces at an edge, doubled areas
// at obtuse corners, weights rescaled between 0.025 and 0.05 without normalisation.
#pragma once

#include <absl/status/statusor.h>

#include "core/weights/skin.h"

namespace sinew::weights {

// kInvalidArgument: no triangle. kResourceExhausted: memory, or a surface so complex that the
// factorisation needs more than 5e10 operations (about a minute; regular surfaces of a million
// points need fewer).
absl::StatusOr<Computed> HeatWeights(const Skin& skin, const WeightOptions& options,
                                     const Progress& progress);

// Bytes without the matrix factor, whose size is known, and checked, only after its rows are
// ordered.
std::size_t HeatBytes(const Skin& skin);

}  // namespace sinew::weights
