// slope_args.h - differentials of a kernel's points along two tangents per lane, see
// core/surface/surface_slopes.h.
#pragma once

namespace sinew {

// All pointers are 64-byte aligned; all are null if slopes are not requested.
struct SlopeArgs {
  const float* weights =
      nullptr;                // [pairs][2][16] of weights with a constant sum; each lane sums to 0
  const float* in = nullptr;  // [B][2][3][16]
  float* out = nullptr;       // [B][2][3][16], may be `in`
};

}  // namespace sinew
