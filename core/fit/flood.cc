#include "core/fit/flood.h"

#include <cstddef>
#include <utility>

namespace sinew::fit {

Flood FloodFrom(const Body& body, std::vector<std::uint32_t> seeds) {
  Flood flood{.source = std::vector<std::uint32_t>(body.cell_count(), kNoCell),
              .steps = std::vector<std::uint32_t>(body.cell_count(), 0),
              .reached = std::move(seeds)};
  for (const std::uint32_t seed : flood.reached) flood.source[seed] = seed;
  for (std::size_t k = 0; k < flood.reached.size(); ++k) {
    const std::uint32_t cell = flood.reached[k];
    for (const std::size_t next : body.Neighbours(cell)) {
      if (!body.Inside(next) || flood.source[next] != kNoCell) continue;
      flood.source[next] = flood.source[cell];
      flood.steps[next] = flood.steps[cell] + 1;
      flood.reached.push_back(static_cast<std::uint32_t>(next));
    }
  }
  return flood;
}

}  // namespace sinew::fit
