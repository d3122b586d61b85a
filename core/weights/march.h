// march.h - distances through voxels from a set of sources, by fast marching.
//
// Source: Sethian 1996, the first-order scheme |grad u| = 1 on the 6-neighbourhood. Its error falls
// with the voxel, unlike that of paths over neighbours, which stay too long by up to 12.8 % however
// fine the grid.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/weights/voxels.h"

namespace sinew::weights {

struct MarchSource {
  std::uint32_t voxel = 0;
  double distance = 0;  // in voxels
};

// [voxels] distance in voxels, infinite where no way leads. Depends on the set of sources alone,
// not on their order. Incomplete when the task is cancelled.
std::vector<double> March(const Voxels& voxels, std::span<const MarchSource> sources,
                          const Task& task);

// Bytes March holds and returns for each voxel, with a source in each, and beside
// it to find them.
inline constexpr std::size_t kMarchBytes =
    2 * sizeof(double) + 2 * sizeof(std::uint32_t) + sizeof(MarchSource) + 2;

}  // namespace sinew::weights
