// half_weights_kernel.h - float16 weights of one block as the float32 that blending kernels read.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sinew {

// Divides every lane's weights by their sum.
//   halves  [pairs][16], 32-byte aligned
//   out     [pairs][16], 64-byte aligned
void HalfWeightsKernel(const std::uint16_t* halves, std::size_t pairs, float* out);

}  // namespace sinew
