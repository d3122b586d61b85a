// laplacian.h - the row-stochastic neighbour weights N for smoothing.
//
// N = D^-1 G with symmetric edge weights G and degrees D = diag(row sums of G); the random-walk
// Laplacian is I - N. Source: Pinkall and Polthier 1993 (cotangent).
#pragma once

#include <cstdint>
#include <vector>

#include "core/surface/adjacency.h"

namespace sinew {

// Compressed rows. Without negative edge weights the spectrum of N is in [-1, 1], and N is
// self-adjoint in the inner product weighted by `degree`.
struct NeighbourWeights {
  std::vector<std::uint64_t> offsets;     // [P + 1]
  std::vector<std::uint32_t> neighbours;  // ascending within a row; an isolated point lists itself
  std::vector<double> weights;            // row sums are 1
  std::vector<double> degree;             // [P] unnormalised sum; 1 for an isolated point
  bool even = false;                      // every weight is 1 / row size

  std::size_t points() const { return degree.size(); }
};

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
// Degenerate triangles are ignored. A point without a positive degree counts as isolated.
NeighbourWeights CotangentWeights(const Mesh& mesh, const WeldedPoints& welded,
                                  const Adjacency& triangle_neighbours, NegativeWeights negative);

}  // namespace sinew
