// neighbour_weights.h - the row-stochastic matrix N of smoothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

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

}  // namespace sinew
