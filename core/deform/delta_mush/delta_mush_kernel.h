// delta_mush_kernel.h - Jacobi smoothing, one point in four lanes.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sinew {

// packed[p] = (x, y, z, 0) of lane lanes[p] in `blocks`, minus origin[3], for p in [begin, end).
//
//    blocks  [B][3][16];  packed  [P][4], 16-byte aligned
void GatherPointsKernel(const float* blocks, const std::uint32_t* lanes, const float* origin,
                        float* packed, std::size_t begin, std::size_t end);

// out[p] = in[p] + sum_k weight (in[k] - in[p]) over the row of p, in the row's order.
struct SmoothKernelArgs {
  const std::uint32_t* row_offset;  // [P + 1] into neighbours
  const std::uint32_t* neighbours;
  const float* weights;  // per neighbour, or per point if `even`
  bool even;
  const float* in;  // [P][4], 16-byte aligned
  float* out;       // [P][4], not `in`
};
void SmoothKernel(const SmoothKernelArgs& args, std::size_t begin, std::size_t end);

}  // namespace sinew
