// voxels.h - the inside of a surface as voxels, and their adjacency.
#pragma once

#include <absl/status/statusor.h>

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "core/base/types.h"
#include "core/parallel/task.h"
#include "core/surface/part_triangles.h"

namespace sinew::weights {

inline constexpr std::int32_t kNoVoxel = -1;

struct Voxels {
  Vec3d origin;     // centre of cell 0
  double size = 1;  // cell size in unit space
  std::array<std::int32_t, 3> cells{};
  std::vector<std::int32_t> number;  // [cells] voxel in a cell, or kNoVoxel
  std::vector<std::uint32_t> cell;   // [voxels], rising
  // [voxels] across -x, +x, -y, +y, -z, +z; kNoVoxel also if the line between the centres leaves
  // and re-enters the body.
  std::vector<std::array<std::int32_t, 6>> neighbour;

  std::size_t count() const { return cell.size(); }
  Vec3d Middle(std::size_t voxel) const;
  // Coordinates of the cell that contains p; may be outside the grid.
  std::array<std::int32_t, 3> CellOf(const Vec3d& p) const;
  // Voxel of a cell; kNoVoxel outside the grid.
  std::int32_t At(const std::array<std::int32_t, 3>& at) const;
};

// A cell is inside by at least 4 of 6 votes: one for each end of each axis from which the signed
// surface crossings before the cell's centre do not cancel. So parts may overlap or be wound inside
// out, and a hole spoils the votes of at most one axis. Surfaces open in both directions, or
// thinner than a cell, have no voxels. kResourceExhausted: `held` plus the grid exceed
// task.memory_limit(), or large faces would take minutes; kCancelled.
absl::StatusOr<Voxels> MakeVoxels(std::span<const Vec3d> points,
                                  std::span<const Triangle> triangles, std::uint32_t resolution,
                                  std::size_t held, const Task& task);

}  // namespace sinew::weights
