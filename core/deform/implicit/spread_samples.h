// spread_samples.h - Poisson-disk samples of a surface.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "core/base/types.h"

namespace sinew {

struct SurfaceSample {
  Vec3d point, normal;  // unit normal
};

// About `count` of the candidates (within 10 %, if there are enough), at a common least distance,
// but never closer than 1 to 2 % of their extent. The distance is a fraction of `unit` with a small
// power of two as the denominator, so that it stays the same where some candidates come or go.
// Distances grow where normals differ, so that both
// sides of a thin sheet are sampled. Earlier candidates win. Source: Cook 1986; metric of Bowers
// et al. 2010.
std::vector<SurfaceSample> SpreadSamples(std::span<const SurfaceSample> candidates,
                                         std::size_t count, double unit);

}  // namespace sinew
