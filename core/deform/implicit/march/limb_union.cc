#include "core/deform/implicit/march/limb_union.h"

#include <algorithm>

namespace sinew {

std::array<UnionValue, kLanes> UnionAt(const PosedField& field, const PointBlock& points,
                                       const std::array<std::uint16_t, kLanes>& likely) {
  std::array<UnionValue, kLanes> least;
  if (field.PartFrames().empty()) return least;
  // All parts that are nearer than the likely one, and by the margin those that are equally near,
  // whatever the other lanes need.
  DistanceNeed need = {.own = likely};
  need.level.fill(std::numeric_limits<float>::lowest());
  need.margin.fill(1e-3f);
  PartBlocks parts = field.Distances(points, need);
  // Beyond the support of the likely part any other may be the nearest.
  bool beyond = false;
  for (std::size_t i = 0; i < kLanes; ++i) {
    const auto own = std::ranges::find(parts, std::uint32_t{likely[i]}, &PartBlock::part);
    if (own->value[i] < field.Reach(own->part)) continue;
    need.margin[i] = std::numeric_limits<float>::infinity();
    beyond = true;
  }
  if (beyond) parts = field.Distances(points, need);
  for (const PartBlock& part : parts) {
    for (std::size_t i = 0; i < kLanes; ++i) {
      if (!(part.value[i] < std::min(least[i].f, field.Reach(part.part)))) continue;
      least[i] = {.f = part.value[i],
                  .gradient = {part.x[i], part.y[i], part.z[i]},
                  .part = static_cast<std::uint16_t>(part.part)};
    }
  }
  return least;
}

}  // namespace sinew
