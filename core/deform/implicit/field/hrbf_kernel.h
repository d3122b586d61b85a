// hrbf_kernel.h - the compact field of one part at 16 points, and what of it needs lanes.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sinew {

// What places a part in the pose; u = rows (x - origin) + shift is part space in radii.
//   0 rows [3][3], 9 origin [3], 12 shift [3], 16 box: least u [3], largest u [3],
//   22 bounds: least x [3], largest x [3]; 28 cells of the box per u [3]; 15 and 31 unused
inline constexpr std::size_t kPlacedFloats = 32;

// The box is cut into kReachSide cells along each axis; a cell's n bounds F in it by n / 255.
inline constexpr std::size_t kReachSide = 16, kReachCells = kReachSide * kReachSide * kReachSide;

struct HrbfPart {
  const float* centres;     // [count][kCentreFloats], see packed_hrbf.h
  const float* polynomial;  // [kPolynomialFloats]
  std::size_t count;
  const float* placed;        // [kPlacedFloats]
  const std::uint8_t* cells;  // [kReachCells] z, y, x
};

// Upper bounds of F, exactly 0 outside of box and bounds; returns the largest. Some 20 times faster
// than F itself.
//   points [3][16], reach [16], 64-byte aligned
float ReachKernel(const HrbfPart& part, const float* points, float* reach);

// F and its gradient in model space. F is held to `reach`, and both are exactly 0 where that is 0:
// so who leaves out a part for its reach gets the same bits as who does not.
//   points [3][16], reach [16], out [4][16], 64-byte aligned
void HrbfKernel(const HrbfPart& part, const float* points, const float* reach, float* out);

// f, not yet compact, and its gradient at points of part space in radii; `placed` and `cells` are
// not looked at.
void RawHrbfKernel(const HrbfPart& part, const float* points, float* out);

// Lanes of `out` where `other` has the larger value take it; [4][16] both.
void MaxFieldKernel(const float* other, float* out);

// Bit i of hits[k]: the bounds of part 16 k + i meet the box.
//   bounds [packs][6][16] least x y z, largest x y z;  box [6] the same
void CullKernel(const float* bounds, std::size_t packs, const float* box, std::uint32_t* hits);

}  // namespace sinew
