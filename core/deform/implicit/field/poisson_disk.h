// poisson_disk.h - points spread evenly over a piece of surface, the same ones on every machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/base/types.h"

namespace sinew {

struct SurfaceSample {
  Vec3d point, normal;  // normal of unit length
  double spacing = 1;   // distance to others here: 1 or more times that elsewhere
};

// About `count` of the candidates (within 10 %, as far as they suffice), no two of them closer than
// a common distance, and never closer than 0.05 of the mean spacing that `area` has room for.
// The distance is longer by the mean of both candidates' spacing, and
// grows where normals differ, so that both sides of a thin sheet keep their samples. The
// order of the candidates decides between them. Source: Cook 1986; metric of Bowers et al. 2010.
std::vector<SurfaceSample> SpreadSamples(std::span<const SurfaceSample> candidates, double area,
                                         std::size_t count);

// Numbers in [0, 1) from a seed and a counter; exact, hence the same everywhere.
class CounterRandom {
 public:
  explicit CounterRandom(std::uint64_t seed) : state_(seed) {}
  double Next();

 private:
  std::uint64_t state_;
};

}  // namespace sinew
