#include "tests/reference/tracking_reference.h"

#include <cmath>

namespace sinew::reference {

std::vector<Vec3d> TrackingStarts(const Rig& rig, const TrackingStep& step) {
  std::vector<Vec3d> starts;
  for (std::size_t v = 0; v < rig.vertices(); ++v) {
    Vec3d carried;
    double total = 0;
    const auto bindings = rig.influences().bindings(v);
    for (std::size_t k = 0; k < bindings.size(); ++k) {
      const std::int32_t part = step.part_of_binding[bindings[k]];
      if (part < 0) continue;
      const double weight = double{rig.influences().weights(v)[k]};
      carried =
          carried + weight * Apply(step.motions[static_cast<std::size_t>(part)], step.previous[v]);
      total += weight;
    }
    const Vec3d aside = (1 / total) * carried - step.skinned[v];
    const double far = std::sqrt(Dot(aside, aside)) / step.farthest;
    const double kept = step.kept * step.tracked[v] / std::pow(1 + std::pow(far, 4), 0.25);
    starts.push_back(step.skinned[v] + kept * aside);
  }
  return starts;
}

}  // namespace sinew::reference
