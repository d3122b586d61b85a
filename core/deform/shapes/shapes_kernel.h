// shapes_kernel.h - sums of weighted offsets, 16 points at a time.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sinew {

// sum[block[p] - first_block] += coefficient * offsets[p] for pairs [begin, end).
struct AddOffsetsArgs {
  const std::uint32_t* block;  // [pairs]
  const float* offsets;        // [pairs][3][16], 64-byte aligned
  float* sum;                  // [..][3][16], 64-byte aligned
  std::uint32_t first_block;
  float coefficient;
};
void AddOffsetsKernel(const AddOffsetsArgs& args, std::size_t begin, std::size_t end);

// out = in + sum for [blocks][3][16] floats, 64-byte aligned; out may be `in`. Where the sum is
// zero the bits of `in` are kept.
void MoveByKernel(const float* in, const float* sum, float* out, std::size_t blocks);

}  // namespace sinew
