// grid.h - the grid over the support of a part, and what is looked up in it: lower bounds of the
// field in its cells, and the gap between the part and all others at their corners.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/base/types.h"
#include "core/deform/implicit/hrbf.h"
#include "core/deform/implicit/hrbf_kernel.h"

namespace sinew {

// The box of a support, in part space divided by the reach: f >= 1 on its faces. The grid divides
// it into kGridSide cells along each axis.
struct GridBox {
  std::array<double, 3> least{}, largest{};

  // Coordinate on an axis at a distance from the least side, in cells.
  double At(std::size_t axis, double cells) const {
    return least[axis] + cells * (largest[axis] - least[axis]) / static_cast<double>(kGridSide);
  }
};

// [kGridCells] lower bounds of f / r in the cells, as LeastKernel reads them: the tangent at the
// centre of each, less a margin for the curvature that the cells beside it show. They skip parts
// that cannot matter at a point. The bound is not strict: DistanceKernel clamps f to it.
std::vector<std::uint32_t> BoundCells(const Hrbf& fit, const GridBox& box);

// Corners along an axis, and all of them.
inline constexpr std::size_t kCornerSide = kGridSide + 1,
                             kGridCorners = kCornerSide * kCornerSide * kCornerSide;

// The gap of a part as it is stored, at most kMostGap.
std::uint8_t PackedGap(float gap);

// See PosedField::Trust; rises over kTrustWidth.
//
//    gap  least f of all others - f of the part, over its size; > 0 where the part is nearest
float TrustOfGap(float gap);

// Trust at a point of the grid, by linear interpolation of gaps. Continuous; 0 outside the grid.
//
//    gaps  [kGridCorners] z, y, x
//    at    in cells
float TrustOfGrid(const std::uint8_t* gaps, const Vec3f& at);

}  // namespace sinew
