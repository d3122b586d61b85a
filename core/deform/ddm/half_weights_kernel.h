// half_weights_kernel.h - converts the float16 weights of one block to float.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sinew {

// Normalises each lane's weights to sum 1.
//
//    halves  [pairs][16], 32-byte aligned
//    out     [pairs][16], 64-byte aligned
void HalfWeightsKernel(const std::uint16_t* halves, std::size_t pairs, float* out);

}  // namespace sinew
