#include "core/deform/delta_mush/delta_mush_kernel.h"

#include "core/simd/vec4.h"

namespace sinew {

void GatherPointsKernel(const float* blocks, const std::uint32_t* lanes, const float* origin,
                        float* packed, std::size_t begin, std::size_t end) {
  for (std::size_t p = begin; p < end; ++p) {
    const float* from = blocks + std::size_t{lanes[p] / 16} * 48 + lanes[p] % 16;
    Store4(Vec4{from[0] - origin[0], from[16] - origin[1], from[32] - origin[2], 0}, packed, p);
  }
}

// Aligned: the start of the loop within a cache line makes 4.5 or 6.5 ns per point (AMD EPYC).
[[gnu::aligned(64)]] void SmoothKernel(const SmoothKernelArgs& args, std::size_t begin,
                                       std::size_t end) {
  for (std::size_t p = begin; p < end; ++p) {
    const Vec4 at = Load4(args.in, p);
    const std::uint32_t row = args.row_offset[p], row_end = args.row_offset[p + 1];
    Vec4 sum = {0, 0, 0, 0};
    if (args.even) {
      for (std::uint32_t k = row; k < row_end; ++k) sum += Load4(args.in, args.neighbours[k]) - at;
      sum *= args.weights[p];
    } else {
      for (std::uint32_t k = row; k < row_end; ++k) {
        sum += args.weights[k] * (Load4(args.in, args.neighbours[k]) - at);
      }
    }
    Store4(at + sum, args.out, p);
  }
}

}  // namespace sinew
