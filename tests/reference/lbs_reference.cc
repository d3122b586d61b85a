#include "tests/reference/lbs_reference.h"

namespace sinew::reference {

std::vector<Vec3d> Lbs(std::span<const Vec3d> rest, const Influences& influences,
                       std::span<const AffineD> skin) {
  std::vector<Vec3d> posed(rest.size());
  for (std::size_t v = 0; v < rest.size(); ++v) {
    for (std::size_t k = 0; k < influences.bindings(v).size(); ++k) {
      posed[v] =
          posed[v] + influences.weights(v)[k] * Apply(skin[influences.bindings(v)[k]], rest[v]);
    }
  }
  return posed;
}

}  // namespace sinew::reference
