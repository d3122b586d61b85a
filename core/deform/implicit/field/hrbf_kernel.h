// hrbf_kernel.h - the compact field of one part at 16 points, and related lane operations.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sinew {

// Placement of a part in the pose; u = rows (x - origin) + shift is part space in radii.
//
//    0 rows [3][3], 9 origin [3], 12 shift [3], 16 box: min u [3], max u [3],
//    22 bounds: min x [3], max x [3]; 28 cells of the box per u [3]; 15 and 31 unused
inline constexpr std::size_t kPlacedFloats = 32;

// The box is divided into kReachSide cells along each axis. A cell's byte n bounds F in it by n /
// 255.
inline constexpr std::size_t kReachSide = 16, kReachCells = kReachSide * kReachSide * kReachSide;

struct HrbfPart {
  const float* centres;     // [count][kCentreFloats], see packed_hrbf.h
  const float* polynomial;  // [kPolynomialFloats]
  std::size_t count;
  const float* placed;        // [kPlacedFloats]
  const std::uint8_t* cells;  // [kReachCells] z, y, x
};

// Upper bounds of F, exactly 0 outside box and bounds; returns the largest. About 20 times faster
// than F.
//
//    points [3][16], reach [16], 64-byte aligned
float ReachKernel(const HrbfPart& part, const float* points, float* reach);

// F and its gradient in model space. F is clamped to `reach`, and both are exactly 0 where that is
// 0, so skipping a part by its reach does not change the bits.
//
//    points [3][16], reach [16], out [4][16], 64-byte aligned
void HrbfKernel(const HrbfPart& part, const float* points, const float* reach, float* out);

// Raw f and its gradient at points in part space, in radii; `placed` and `cells` are not used.
void RawHrbfKernel(const HrbfPart& part, const float* points, float* out);

// Per lane, takes `other` if its value is larger; both [4][16].
void MaxFieldKernel(const float* other, float* out);

// Bit i of hits[k]: the bounds of part 16 k + i intersect the box.
//
//    bounds [packs][6][16] min x y z, max x y z;  box [6] the same
void CullKernel(const float* bounds, std::size_t packs, const float* box, std::uint32_t* hits);

}  // namespace sinew
