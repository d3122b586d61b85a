#include "core/fit/links.h"

#include <algorithm>
#include <cstddef>
#include <tuple>

namespace sinew::fit {
namespace {

constexpr std::uint32_t kNoPlace = 0xffffffff;

}  // namespace

std::vector<Link> FindLinks(const Body& body, std::span<const Vec3d> places) {
  std::vector<std::uint32_t> nearest(body.cell_count(), kNoPlace), steps(nearest.size(), 0);
  std::vector<std::size_t> reached;  // in the order of steps
  for (std::uint32_t k = 0; k < places.size(); ++k) {
    const std::size_t cell = body.CellOf(places[k]);
    if (!body.Inside(cell) || nearest[cell] != kNoPlace) continue;
    nearest[cell] = k;
    reached.push_back(cell);
  }
  for (std::size_t at = 0; at < reached.size(); ++at) {
    const std::size_t cell = reached[at];
    for (const std::size_t next : body.Neighbours(cell)) {
      if (!body.Inside(next) || nearest[next] != kNoPlace) continue;
      nearest[next] = nearest[cell];
      steps[next] = steps[cell] + 1;
      reached.push_back(next);
    }
  }
  std::vector<Link> links;
  for (const std::size_t cell : reached) {
    for (const std::size_t next : body.Neighbours(cell)) {
      if (nearest[next] == kNoPlace || nearest[next] == nearest[cell]) continue;
      const auto [first, second] = std::minmax(nearest[cell], nearest[next]);
      links.push_back({first, second, steps[cell] + steps[next] + 1});
    }
  }
  const auto pair = [](const Link& link) { return std::tuple(link.first, link.second); };
  std::ranges::sort(links, {}, [&](const Link& link) {
    return std::tuple_cat(pair(link), std::tuple(link.steps));
  });
  const auto same = std::ranges::unique(links, {}, pair);
  links.erase(same.begin(), same.end());
  std::ranges::sort(links, {}, [&](const Link& link) {
    return std::tuple_cat(std::tuple(link.steps), pair(link));
  });
  return links;
}

}  // namespace sinew::fit
