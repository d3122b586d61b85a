// bulge_free_kernel.h - the two corrections of bulging joints, 16 points at a time.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/simd/slope_args.h"

namespace sinew {

// A posed bone: 0-2 its root, 3-5 tip - root, 6 1 / |tip - root|^2 or 0 for a point, 7 unused.
inline constexpr std::size_t kBoneFloats = 8;
// A push: x y z, 1 unused.
inline constexpr std::size_t kPushFloats = 4;

// out = in + sum over the block's bindings of share f (in - c), c the bone's point nearest to `in`:
// f = rho / |in - c| - 1 if negative, eased in while |in - c| / rho grows from 1 to 1 + width. rho
// is the distance at which the binding's matrix alone would put the vertex. If |in - c|^2
// overflows, f = 0.
struct ProjectionKernelArgs {
  const std::uint32_t* pair_offset;    // [B + 1]
  const std::uint16_t* pair_entry;     // [pairs] bindings
  const float* shares;                 // [pairs][16], 64-byte aligned
  const float* skin;                   // [E][12] row-major 3x4, maps `rest` to the pose
  const float* bones;                  // [E][kBoneFloats]
  float width;                         // >= 0
  const float* rest;                   // [B][3][16], 64-byte aligned
  const float* in;                     // [B][3][16] posed
  float* out;                          // [B][3][16], may be `in`
  SlopeArgs slopes{};                  // its weights are those of the shares
  const float* rest_slopes = nullptr;  // [B][2][3][16]
};

void ProjectionKernel(const ProjectionKernelArgs& args, std::size_t begin, std::size_t end);

// out = in + sum over the block's pairs of share * push.
struct PushKernelArgs {
  const std::uint32_t* pair_offset;  // [B + 1]
  const std::uint32_t* pair_push;    // [pairs] a row of pushes, or kNoPush
  const float* shares;               // [pairs][16], 64-byte aligned
  const float* pushes;               // [pushes][kPushFloats]
  const float* in;                   // [B][3][16] posed, 64-byte aligned
  float* out;                        // [B][3][16], may be `in`
};
inline constexpr std::uint32_t kNoPush = 0xffffffffu;

void PushKernel(const PushKernelArgs& args, std::size_t begin, std::size_t end);

}  // namespace sinew
