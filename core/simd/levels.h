// levels.h - disables the Highway targets that would change the bits, and defines kernels for all
// others. Every kernel includes it before hwy/foreach_target.h.
//
// SSSE3 and SSE4 have no fused multiply-add; the register size of SVE is unknown at compile time.
#pragma once

#ifdef HWY_DISABLED_TARGETS
#error "core/simd/levels.h alone decides which levels are built"
#endif
#define HWY_DISABLED_TARGETS \
  (HWY_SSSE3 | HWY_SSE4 | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128)

// Defines the kernel `name`, which calls `function` of the selected level; once per file, under
// HWY_ONCE.
#define SINEW_KERNEL(result, name, parameters, function, arguments) \
  namespace sinew {                                                 \
  HWY_EXPORT(function);                                             \
  result name parameters {                                          \
    return HWY_DYNAMIC_DISPATCH(function) arguments;                \
  }                                                                 \
  }  // namespace sinew
