#include "core/fit/links.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <tuple>
#include <utility>

#include "core/fit/flood.h"

namespace sinew::fit {

std::vector<Link> FindLinks(const Body& body, std::span<const Vec3d> places) {
  std::map<std::uint32_t, std::uint32_t> place_of;  // of a cell, the first
  std::vector<std::uint32_t> seeds;
  for (std::uint32_t k = 0; k < places.size(); ++k) {
    const auto cell = static_cast<std::uint32_t>(body.CellOf(places[k]));
    if (body.Inside(cell) && place_of.try_emplace(cell, k).second) seeds.push_back(cell);
  }
  const Flood flood = FloodFrom(body, std::move(seeds));
  std::vector<Link> links;
  for (const std::uint32_t cell : flood.reached) {
    for (const std::size_t next : body.Neighbours(cell)) {
      const std::uint32_t here = flood.source[cell], there = flood.source[next];
      if (there == kNoCell || there == here) continue;
      const auto [first, second] = std::minmax(place_of[here], place_of[there]);
      links.push_back({first, second, flood.steps[cell] + flood.steps[next] + 1});
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
