// linear_blend_kernel.h - linear blending of 16 points at a time.
//
// out = sum_j w_j M_j u has the differential sum_j w_j A_j t + sum_j (M_j u) slope_j(t), A_j the
// linear part of M_j.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/simd/slope_args.h"

namespace sinew {

// out = sum over the block's bindings of weight * (skin * in), pivot first, then ascending.
struct LinearBlendKernelArgs {
  const std::uint32_t* pair_offset;  // [B + 1]
  const std::uint16_t* pair_entry;   // [pairs] bindings
  const float* weights;              // [pairs][16], 64-byte aligned
  const float* skin;                 // [E][12] row-major 3x4, finite
  const float* in;                   // [B][3][16], 64-byte aligned
  float* out;                        // [B][3][16], may be `in`
  SlopeArgs slopes{};
};

void LinearBlendKernel(const LinearBlendKernelArgs& args, std::size_t begin, std::size_t end);

}  // namespace sinew
