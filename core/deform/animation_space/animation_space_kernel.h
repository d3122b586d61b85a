// animation_space_kernel.h - linear blending with offsets, 16 points at a time.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sinew {

// out = sum over the block's bindings of skin * (weight * in + offset, weight), pivot first, then
// ascending.
struct AnimationSpaceArgs {
  const std::uint32_t* pair_offset;  // [B + 1]
  const std::uint16_t* pair_entry;   // [pairs] bindings
  const float* values;               // [pairs][4][16] offset x y z, weight; 64-byte aligned
  const float* skin;                 // [E][12] row-major 3x4, finite
  const float* in;                   // [B][3][16], 64-byte aligned
  float* out;                        // [B][3][16], may be `in`
};

void AnimationSpaceKernel(const AnimationSpaceArgs& args, std::size_t begin, std::size_t end);

}  // namespace sinew
