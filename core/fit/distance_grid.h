// distance_grid.h - distances to the nearest cell of a kind, on a grid.
//
// Exact Euclidean distances between cell centres by one pass of lower envelopes per axis, after
// Felzenszwalb and Huttenlocher 2012, "Distance transforms of sampled functions".
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "core/parallel/task.h"

namespace sinew::fit {

struct NearestCells {
  std::vector<float> distance;        // [cells] in cells; a large number if there is no source
  std::vector<std::uint32_t> source;  // [cells] the nearest source; of several, a fixed one
};

// source: [cells] 1 for the cells whose distance is 0; x varies fastest.
NearestCells FindNearest(const std::array<std::int32_t, 3>& cells,
                         const std::vector<std::uint8_t>& source, const Task& task);

}  // namespace sinew::fit
