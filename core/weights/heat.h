// heat.h - weights as the heat that bones give off over the skin.
//
// Source: Baran and Popovic 2007. Per joint b solve
//   (K + M H) w_b = M H p_b
// with K the stiffness and M the lumped mass of the skin (stiffness.h) and, at point i,
//   H_i = n c / d^2      d = distance to the nearest joint's bones, at least 1e-3 of the median d
//   p_b = 1 / n          for the n joints within 1e-4 of d that the point sees, else 0
// H = 0 where none is seen. The rows of all w sum to 1, because K takes constants to 0. c = 1 is
// the paper's formula, Blender's area weights amount to c = 4, Pinocchio's to 3: on a long tube of
// radius R a bone's weight falls to a half at its end and then as exp(-x sqrt(c) / R).
//
// As in Blender (3.4, an option), d is divided by (1.001 + cos) / 2, cos between the normal and the
// direction from bone to point: bones on the outer side of the skin count as far away. Blender's
// other habits are not copied: cotangents divided by the faces at an edge, twofold areas at obtuse
// corners, weights stretched between 0.025 and 0.05 and not normalised.
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <vector>

#include "core/weights/skin.h"
#include "core/weights/visibility.h"

namespace sinew::weights {

// What warms one point: `joints` (rising) equally, with strength H.
struct HeatSource {
  double strength = 0;
  std::vector<std::uint32_t> joints;
};

struct HeatSources {
  std::vector<HeatSource> of;         // [P]
  std::vector<std::uint32_t> unseen;  // points that see none of their nearest joints, rising
  std::size_t dark = 0;               // of these, on pieces of skin that see none at all
};

// Points that see none of their nearest joints have no source; on a piece of skin without any, all
// points are warmed by their nearest joint, seen or not.
HeatSources FindHeatSources(const Skin& skin, const Visibility& sight, const WeightOptions& options,
                            const Task& task);

// kInvalidArgument: no triangle. kResourceExhausted: memory, or a surface so tangled that factoring
// its matrix takes more than 5e10 operations (about a minute; orderly surfaces of a million points
// take fewer).
absl::StatusOr<Computed> HeatWeights(const Skin& skin, const WeightOptions& options,
                                     const Progress& progress);

// Bytes without the matrix's factor, whose size is known only when its rows are ordered and is
// checked then.
std::size_t HeatBytes(std::size_t points, std::size_t triangles, std::size_t joints);

}  // namespace sinew::weights
