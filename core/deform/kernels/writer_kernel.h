// writer_kernel.h - converts posed blocks to packed xyz in file order, with bounds.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sinew {

struct WriterKernelArgs {
  const float* in;            // [B][3][16], 64-byte aligned
  const std::int32_t* order;  // [B * 16] file vertex of a lane, -1 = padding
  std::byte* out;             // [V * 12] float32 x y z; any alignment
};

struct WriterKernelResult {
  float minimum[3], maximum[3];
  bool finite;  // false: some coordinate is infinite or NaN
};

// Blocks [begin, end); at least one.
WriterKernelResult WriterKernel(const WriterKernelArgs& args, std::size_t begin, std::size_t end);

}  // namespace sinew
