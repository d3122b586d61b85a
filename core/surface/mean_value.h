// mean_value.h - mean-value weights of a welded point's one-ring.
//
// Neighbours are projected onto the plane of the point's normal (area-weighted, of the surrounding
// triangles), where their weighted mean is the point. Source: Floater 2003, with signed angles.
#pragma once

#include <cstdint>
#include <vector>

#include "core/mesh/mesh.h"
#include "core/surface/adjacency.h"

namespace sinew {

// A weight per entry of `triangle_neighbours`, in double. A row sums to 1 and is positive, or is
// all 0 if the point is on a border, its faces do not close around it once, it has no normal, or it
// is outside the convex hull of its projected neighbours. Duplicate faces count once. O(corners log
// valence).
std::vector<double> MeanValueWeights(const Mesh& mesh, const WeldedPoints& welded,
                                     const Adjacency& triangle_neighbours,
                                     const Task& task = Task({.parallel = false}));

// The neighbour after each entry of `triangle_neighbours` around its point, in winding order, as a
// place in its row. Defined where MeanValueWeights is positive; elsewhere any place of the row.
std::vector<std::uint32_t> NextAround(const Mesh& mesh, const WeldedPoints& welded,
                                      const Adjacency& triangle_neighbours);

}  // namespace sinew
