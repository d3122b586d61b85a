// multi_weight_kernel.h - a weight and an offset for each coordinate, 16 points at a time.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sinew {

// Coordinate r of out = sum over the block's pairs of row r of relative * (weight_r * in +
// offset_r, weight_r).
struct MultiWeightArgs {
  const std::uint32_t* pair_offset;  // [B + 1]
  const std::uint32_t* pair_entry;   // [pairs] indices into `relative`
  const float* values;               // [pairs][3][4][16] offset x y z, weight; 64-byte aligned
  const float* relative;             // [R][12] row-major 3x4, finite
  const float* in;                   // [B][3][16], 64-byte aligned
  float* out;                        // [B][3][16], may be `in`
};

void MultiWeightKernel(const MultiWeightArgs& args, std::size_t begin, std::size_t end);

}  // namespace sinew
