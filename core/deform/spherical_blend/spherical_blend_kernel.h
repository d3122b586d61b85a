// spherical_blend_kernel.h - blended rotations about a centre per frame, 16 points at a time.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/simd/slope_args.h"

namespace sinew {

// A row of `relations`: the motion of a binding relative to a pivot binding.
inline constexpr std::size_t kRelationFloats = 20;

// out = sum_j w_j M_j u + s (R - sum_j w_j R_j) (u - r), u = in, R the rotation of the blended
// quaternion, s the pivot's sign; sums run pivot first, then ascending. With `expected` the centre
// r is the vertex's own, argmin sum_{a<b} w_a w_b (|m_a r - m_b r|^2 + fade^2 |r - expected|^2);
// else that of its set. Everything except M u is computed relative to the pivot, so that nearly
// equal rotations do not cancel.
struct SphericalBlendKernelArgs {
  const std::uint32_t* pair_offset;    // [B + 1]
  const std::uint16_t* pair_entry;     // [pairs] bindings
  const std::uint32_t* pair_relation;  // [pairs] rows of relations; a block's first is unused
  const float* weights;                // [pairs][16], 64-byte aligned
  const float* skin;                   // [E][12] M row-major 3x4, finite
  const float* rotations;              // [E][9] row-major
  const float* signs;                  // [E] s of signed_rotation.h
  const float* relations;              // [.][kRelationFloats] of FillRelation
  const float* expected;               // [B][3][16] or null, 64-byte aligned
  const float* set_centres;            // [S][3] where expected is null
  const std::uint32_t* lane_set;       // [B][16] where expected is null
  const float* in;                     // [B][3][16], 64-byte aligned
  float* out;                          // [B][3][16], may be `in`
  float fade;                          // rad
  SlopeArgs slopes{};
};

void SphericalBlendKernel(const SphericalBlendKernelArgs& args, std::size_t begin, std::size_t end);

}  // namespace sinew
