// hrbf_kernel.h - the field of one part at 16 points, and which parts reach them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sinew {

// Placement of a part in the pose; u = rows (x - origin) + shift is part space over the reach r.
//
//    0 rows [3][3], 9 origin [3], 12 shift [3], 16 box: min u [3], max u [3],
//    22 bounds: min x [3], max x [3]; 28 cells of the box per u [3]; 15 and 31 unused
inline constexpr std::size_t kPlacedFloats = 32;

// The box is divided into kGridSide cells along each axis. Each has a linear lower bound of f / r,
// in a word: byte 0 its value at the centre of the cell, and bytes 1 to 3 its slopes along u x, y
// and z, across the cell.
//
//    value = kMostCellValue - byte 0 / kCellValueSteps;  byte 0 = 0: 1 or more, 255: any value
//    slope = (byte - 128) / kCellSlopeSteps
inline constexpr std::size_t kGridSide = 16, kGridCells = kGridSide * kGridSide * kGridSide;
inline constexpr float kMostCellValue = 1.5f, kCellValueSteps = 100, kCellSlopeSteps = 256;

struct HrbfPart {
  const float* centres;     // [count][kCentreFloats], see hrbf.h
  const float* polynomial;  // [kPolynomialFloats]
  std::size_t count;
  const float* placed;         // [kPlacedFloats]
  const std::uint32_t* cells;  // [kGridCells] z, y, x
};

// Lower bounds of f / r, at most 1, and exactly 1 outside box and bounds; whether one is below 1.
// About 20 times faster than f.
//
//    points [3][16], least [16], 64-byte aligned
bool LeastKernel(const HrbfPart& part, const float* points, float* least);

// f / r, from `least` to 1, and its gradient in model space; 1 and 0 where `least` is 1.
//
//    points [3][16], least [16], out [4][16], 64-byte aligned
void DistanceKernel(const HrbfPart& part, const float* points, const float* least, float* out);

// Raw f and its gradient at points in part space over r; `placed` and `cells` are not used.
void RawHrbfKernel(const HrbfPart& part, const float* points, float* out);

// Bit i of hits[k]: the bounds of part 16 k + i intersect the box.
//
//    bounds [packs][6][16] min x y z, max x y z;  box [6] the same
void CullKernel(const float* bounds, std::size_t packs, const float* box, std::uint32_t* hits);

}  // namespace sinew
