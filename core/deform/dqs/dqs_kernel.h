// dqs_kernel.h - dual quaternion blending of 16 points at a time.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/simd/slope_args.h"

namespace sinew {

// Below this |b0|^2 of the blended real part, quaternions with given signs cancel too much to
// define a rotation (two joints of equal weight, 337 degrees apart).
inline constexpr float kMinBlend = 0.01f;

// Sums pivot first, then ascending. Quaternions are negated as `signs` says, relative to the
// pivot's sign. Without signs, and in lanes below kMinBlend, they are negated if their dot product
// with the pivot's is negative; then |b0| is at least the pivot's weight.
struct DqsKernelArgs {
  const std::uint32_t* pair_offset;  // [B + 1]
  const std::uint16_t* pair_entry;   // [pairs] bindings
  const float* weights;              // [pairs][16], 64-byte aligned
  const float* dual_quats;           // [E][8] unit real w x y z, dual w x y z; finite
  const float* stretch;              // [E][12] of FillStretch
  bool stretches = true;             // whether any row of it counts
  const float* signs;                // [E] 1 or -1, or null
  const float* in;                   // [B][3][16], 64-byte aligned
  float* out;                        // [B][3][16], may be `in`
  const float* linear;               // [B][3][16] linear blend of `in` to mix with, or null
  const float* blend_lanes;          // [B][16] share of the dual quaternion blend, or null
  float blend;                       // the share if blend_lanes is null
  SlopeArgs slopes{};                // only without `linear`
};

void DqsKernel(const DqsKernelArgs& args, std::size_t begin, std::size_t end);

}  // namespace sinew
