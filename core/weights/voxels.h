// voxels.h - the inside of a surface as voxels, and which of them are neighbours.
#pragma once

#include <absl/status/statusor.h>

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/base/types.h"
#include "core/weights/skin.h"

namespace sinew::weights {

inline constexpr std::int32_t kNoVoxel = -1;

struct Voxels {
  Vec3d origin;     // middle of cell 0
  double size = 1;  // of a cell, unit space
  std::array<std::int32_t, 3> cells{};
  std::vector<std::int32_t> number;  // [cells] voxel in a cell, or kNoVoxel
  std::vector<std::uint32_t> cell;   // [voxels], rising
  // [voxels] across -x, +x, -y, +y, -z, +z; kNoVoxel also where skin, a gap and skin again lie
  // between two middles.
  std::vector<std::array<std::int32_t, 6>> neighbour;

  std::size_t count() const { return cell.size(); }
  Vec3d Middle(std::size_t voxel) const;
  // Cell coordinates that hold p, not limited to the grid.
  std::array<std::int32_t, 3> CellOf(const Vec3d& p) const;
  // Voxel in a cell, kNoVoxel outside the grid.
  std::int32_t At(const std::array<std::int32_t, 3>& at) const;
};

// A cell is inside if at least 4 of 6 votes say so: seen from either end of each axis, the signed
// crossings of the surface before its middle do not cancel. So parts may overlap, be closed or
// wound inside out, and a hole spoils at most the votes of one axis; what has an open rim both
// ways, or is thinner than a cell, has no voxels.
// kResourceExhausted: `held` bytes and the grid's are more than task.memory_limit(), or so many
// large faces that it would take minutes; kCancelled.
absl::StatusOr<Voxels> MakeVoxels(const Skin& skin, std::uint32_t resolution, std::size_t held,
                                  const Task& task);

}  // namespace sinew::weights
