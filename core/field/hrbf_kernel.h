// hrbf_kernel.h - the compact field of one part at 16 points, and what of it needs lanes.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sinew {

// What places a part in the pose; u = rows (x - origin) + shift is part space in radii.
//   0 rows [3][3], 9 origin [3], 12 shift [3], 16 box: least u [3], largest u [3],
//   22 bounds: least x [3], largest x [3]; 15 and 28 to 31 unused
inline constexpr std::size_t kPlacedFloats = 32;

struct HrbfPart {
  const float* centres;  // [count][8] x y z, alpha, 3 beta, 3 alpha
  std::size_t count;
  const float* placed;  // [kPlacedFloats]
};

// F and its gradient in model space. Exactly 0 outside of box and bounds.
//   points [3][16], out [4][16], 64-byte aligned
void HrbfKernel(const HrbfPart& part, const float* points, float* out);

// Lanes of `out` where `other` has the larger value take it; [4][16] both.
void MaxFieldKernel(const float* other, float* out);

// Bit i of hits[k]: the bounds of part 16 k + i meet the box.
//   bounds [packs][6][16] least x y z, largest x y z;  box [6] the same
void CullKernel(const float* bounds, std::size_t packs, const float* box, std::uint32_t* hits);

}  // namespace sinew
