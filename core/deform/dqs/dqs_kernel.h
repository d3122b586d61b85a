// dqs_kernel.h - dual quaternion blend of 16 points a time.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sinew {

inline constexpr std::size_t kStretchFloats =
    12;  // 9 of M - R row-major, 1 if any of them counts, 2 unused

// Sums pivot first, then ascending. A quaternion is negated if it is more than 90 degrees from the
// pivot's.
struct DqsKernelArgs {
  const std::uint32_t* pair_offset;  // [B + 1]
  const std::uint16_t* pair_entry;   // [pairs] bindings
  const float* weights;              // [pairs][16], 64-byte aligned
  const float* dual_quats;           // [E][8] unit real w x y z, dual w x y z; finite
  const float* stretch;              // [E][kStretchFloats], finite
  const float* in;                   // [B][3][16], 64-byte aligned
  float* out;                        // [B][3][16], may be `in`
  const float* linear;               // [B][3][16] linear blend of `in` to mix with, or null
  const float* blend_lanes;          // [B][16] part of the dual quaternion blend, or null
  float blend;                       // the part where blend_lanes is null
};

// Blocks [begin, end).
void DqsKernel(const DqsKernelArgs& args, std::size_t begin, std::size_t end);

}  // namespace sinew
