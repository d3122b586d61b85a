// mean_value.h - how the neighbours around a welded point average to the point itself.
//
// Neighbours are projected onto the plane of the point's normal (area-weighted, of the polygons
// around it); in that plane the mean of the neighbours is the point. Source: Floater 2003, with
// signed angles.
#pragma once

#include <vector>

#include "core/mesh/mesh.h"
#include "core/surface/adjacency.h"

namespace sinew {

// A weight for each entry of the rows of `triangle_neighbours`, in double. A row sums to 1 and is
// positive, or is 0 all over: the point lies on a border or where faces do not close around it
// once, has no normal, or lies outside the convex hull of its projected neighbours. Faces that are
// there twice count once. Cost O(corners log valence).
std::vector<double> MeanValueWeights(const Mesh& mesh, const WeldedPoints& welded,
                                     const Adjacency& triangle_neighbours);

}  // namespace sinew
