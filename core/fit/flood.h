// flood.h - which of some cells of a body the fewest steps lead to.
#pragma once

#include <cstdint>
#include <vector>

#include "core/fit/body.h"

namespace sinew::fit {

inline constexpr std::uint32_t kNoCell = 0xffffffff;

struct Flood {
  std::vector<std::uint32_t> source;   // [cells] the seed that is nearest, or kNoCell
  std::vector<std::uint32_t> steps;    // [cells] from it
  std::vector<std::uint32_t> reached;  // cells in the order of steps, the seeds first
};

// Goes from inside cell to inside cell. seeds: inside cells, each once; of two that are as near,
// the earlier one counts. Linear.
Flood FloodFrom(const Body& body, std::vector<std::uint32_t> seeds);

}  // namespace sinew::fit
