// direct_kernel.h - points smoothed after linear blending, from moments of their joints, 16 at a
// time.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sinew {

// out[p] = sum over the bindings of p's block of A psi + omega (t - origin), in their order, with
// (A t) the binding's matrix.
struct DirectKernelArgs {
  const std::uint32_t* pair_offset;  // [B + 1] of 16 consecutive points each
  const std::uint16_t* pair_entry;   // [pairs] bindings
  const float* moments;              // [pairs][4][16] psi x y z, omega; 64-byte aligned
  const float* skin;                 // [E][12] row-major 3x4 (A t)
  float origin[3];
  float* out;  // [B * 16][4] x y z 0, 64-byte aligned
};

void DirectKernel(const DirectKernelArgs& args, std::size_t begin, std::size_t end);

}  // namespace sinew
