// rotation_pack.h - the batched rotation of core/simd/rotation-inl.h as a plain function, on the
// active level.
#pragma once

namespace sinew::testing {

// h [9][16] in, r [9][16] and den [16] out; all 64-byte aligned.
void NearestRotations(const float* h, float* r, float* den);

}  // namespace sinew::testing
