// relax_kernel.h - one pass of relaxation for 16 points.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sinew {

inline constexpr std::size_t kMostSteps = 17;  // further ones are ignored

// Slides points first ... first + 15 along the surface, see relax.h.
//
//    ring, weights  [steps][16] neighbours of each point in winding order; steps = 0: all stay
//    closed         the first neighbour of each point follows again, then the point itself, both
//                   with weight 0; else all points have `steps` neighbours
//    outside        [16] 1 if the normal points outward, -1 if inward; 64-byte aligned, as weights
//    points, out    [first + 16][4] or more, x y z 0, 16-byte aligned
//    from           as `points`, or null; if given, out becomes the difference from it
void RelaxKernel(const std::uint32_t* ring, const float* weights, std::size_t steps, bool closed,
                 const float* outside, float strength, const float* points, const float* from,
                 std::size_t first, float* out);

// Adds to each lane how far its point slid. Lanes keep their bits where it did not, or where the
// points are too far apart for a difference.
//
//    lane_point  [blocks * 16]
//    slid        [P][4] x y z 0, 16-byte aligned
//    in, out     [blocks][3][16] x y z, 64-byte aligned
void SlideKernel(const std::uint32_t* lane_point, std::size_t blocks, const float* slid,
                 const float* in, float* out);

}  // namespace sinew
