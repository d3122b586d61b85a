// levels.h - include before hwy/foreach_target.h in every kernel: leaves out levels that would
// change the bits.
//
// SSSE3 and SSE4 have no fused multiply-add; SVE's registers have no size known when compiling.
#pragma once

#ifdef HWY_DISABLED_TARGETS
#error "core/simd/levels.h alone decides which levels are built"
#endif
#define HWY_DISABLED_TARGETS \
  (HWY_SSSE3 | HWY_SSE4 | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128)
