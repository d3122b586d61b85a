// centre_blend_kernel.h - blended rotations about one centre per vertex, 16 points at a time.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/simd/slope_args.h"

namespace sinew {

// out = sum_j omega_j M_j u + (s R - sum_j omega_j s_j R_j) (u - p), u = in, R the rotation of
// sum_j w^R_j r_j, s the pivot's sign; for rigid joints s R (u - p) + sum_j omega_j M_j p. Sums run
// over the block's bindings, pivot first, then ascending; quaternions more than 90 degrees from the
// pivot's are negated. A lane with p = u has the bits of the linear blend if its joints are rigid.
// Source: Le and Hodgins 2016; Le and Lewis 2019, variant 4.
struct CentreBlendKernelArgs {
  const std::uint32_t* pair_offset;  // [B + 1]
  const std::uint16_t* pair_entry;   // [pairs] bindings
  const float* rotation_weights;     // [pairs][16] w^R, 64-byte aligned; any common scale
  const float* translation_weights;  // [pairs][16] omega, sum 1, 64-byte aligned; may be w^R
  const float* skin;                 // [E][12] M row-major 3x4, finite
  const float* dual_quats;           // [E][8] unit real r w x y z, then 4 unused; finite
  const float* signs;                // [E] s of signed_rotation.h
  const float* stretch;              // [E][12] of FillStretch with these signs
  bool stretches = true;             // whether any row of it counts
  const float* centre;               // [B][3][16] p, 64-byte aligned, finite
  const float* in;                   // [B][3][16], 64-byte aligned
  float* out;                        // [B][3][16], may be `in`
  // The slopes of translation_weights, rotation_weights and centre [B][2][3][16].
  SlopeArgs slopes{};
  const float* rotation_slopes = nullptr;
  const float* centre_slopes = nullptr;
};

void CentreBlendKernel(const CentreBlendKernelArgs& args, std::size_t begin, std::size_t end);

}  // namespace sinew
