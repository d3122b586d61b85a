// point_weights.h - one row of weights for the vertices of one point.
//
// Programs that split a mesh along texture seams and hard edges also round and normalise the
// weights of both sides, each on its own. Linear blending keeps such a seam closed up to the
// rounding. Other methods choose by weights (a pivot, a centre, an owner) or sum over neighbours,
// so that each side would go its own way.
#pragma once

#include <optional>

#include "core/mesh/weld.h"
#include "core/rig/influences.h"

namespace sinew {

// Largest difference of a weight between two rows of one point: 1e-3, and what storing weights as
// floats and normalising them adds.
inline constexpr double kSameWeight = 1e-3 + 1e-6;

// Gives one row to the vertices of a place whose rows differ by at most kSameWeight in every
// binding, transitively: the first of their rows by binding and weight. Other vertices keep their
// own, and so do those of a place with more than 64 different rows, which no mesh needs. nullopt if
// all rows stay. Independent of the order of the vertices. O(V + influences).
//
//    own     [V] as given
//    places  of the V vertices, see Weld(const Mesh&)
std::optional<Influences> PointWeights(const Influences& own, const WeldedPoints& places);

}  // namespace sinew
