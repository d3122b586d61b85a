// march.h - distances through voxels from a set of sources, by fast marching.
//
// Source: Sethian 1996, the first-order scheme |grad u| = 1 on the 6-neighbourhood. Its error
// vanishes with the voxel size, unlike that of shortest paths over neighbours, which stay up to
// 12.8 % too long on any grid.
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

// [voxels] distances in voxels, infinite where unreachable. Independent of the order of the
// sources. Incomplete when the task is cancelled.
std::vector<double> March(const Voxels& voxels, std::span<const MarchSource> sources,
                          const Task& task);

// Bytes per voxel held and returned by March, with a source in each voxel, and those to find the
// sources.
inline constexpr std::size_t kMarchBytes =
    2 * sizeof(double) + 2 * sizeof(std::uint32_t) + sizeof(MarchSource) + 2;

}  // namespace sinew::weights
