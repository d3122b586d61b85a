// poisson_disk.h - Poisson-disk samples of a surface, identical on every machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/base/types.h"

namespace sinew {

struct SurfaceSample {
  Vec3d point, normal;  // unit normal
  double spacing = 1;   // relative sample distance here, >= 1
};

// About `count` of the candidates (within 10 %, if there are enough), with a common minimum
// distance that is never below 0.05 of the mean spacing for `area`. The distance is scaled by the
// mean spacing of both candidates, and grows where normals differ, so that both sides of a thin
// sheet are sampled. Earlier candidates win. Source: Cook 1986; metric of Bowers et al. 2010.
std::vector<SurfaceSample> SpreadSamples(std::span<const SurfaceSample> candidates, double area,
                                         std::size_t count);

// Numbers in [0, 1) from a seed and a counter; exact, so the same everywhere.
class CounterRandom {
 public:
  explicit CounterRandom(std::uint64_t seed) : state_(seed) {}
  double Next();

 private:
  std::uint64_t state_;
};

}  // namespace sinew
