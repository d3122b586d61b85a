// links.h - the shortest ways inside a body from one place to another.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/types.h"
#include "core/fit/body.h"

namespace sinew::fit {

struct Link {
  std::uint32_t first = 0, second = 0;  // of the places; first < second
  std::uint32_t steps = 0;              // from cell to cell
};

// Divides the inside of the body among `places` in it, each cell to the one that the fewest steps
// lead to, and returns one link for every two places whose cells touch: the shortest. Sorted by
// steps, then by places.
std::vector<Link> FindLinks(const Body& body, std::span<const Vec3d> places);

}  // namespace sinew::fit
