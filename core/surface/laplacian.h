// laplacian.h - the row-stochastic neighbour weights N for smoothing.
//
// N = D^-1 G with symmetric edge weights G and degrees D = diag(row sums of G); the random-walk
// Laplacian is I - N. Source: Pinkall and Polthier 1993 (cotangent).
#pragma once

#include "core/solve/neighbour_weights.h"
#include "core/surface/adjacency.h"

namespace sinew {

// Equal weights for all neighbours along polygon edges.
NeighbourWeights UniformWeights(const Adjacency& polygon_neighbours);

// Weights 1 / max(distance, 1e-9 of the bounding-box diagonal).
NeighbourWeights InverseDistanceWeights(const Mesh& mesh, const WeldedPoints& welded,
                                        const Adjacency& polygon_neighbours);

enum class NegativeWeights {
  kClamp,  // edges below 1e-3 of the mean positive weight are raised to it
  kKeep,   // unchanged; smoothing may leave the convex hull. For comparisons only
};

// Half the sum of the cotangents opposite an edge, in double; polygons are split into fans.
// Triangles less than 1e-6 of their longest edge high are ignored. A point without a positive
// degree counts as isolated.
NeighbourWeights CotangentWeights(const Mesh& mesh, const WeldedPoints& welded,
                                  const Adjacency& triangle_neighbours, NegativeWeights negative);

}  // namespace sinew
