// relax_kernel.h - one pass of relaxation for 16 points.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sinew {

// Slides points first ... first + 15 along the surface, see relax.h.
//
//    ring, weights  [steps][16] neighbours of each point in winding order, the first one again
//                   behind them, with weight 0; steps = 0: the points stay
//    outside        [16] 1 if the normal points outward, -1 if inward; 64-byte aligned, as weights
//    points, out    [P][4] x y z 0, 16-byte aligned
void RelaxKernel(const std::uint32_t* ring, const float* weights, std::size_t steps,
                 const float* outside, float strength, const float* points, std::size_t first,
                 float* out);

}  // namespace sinew
