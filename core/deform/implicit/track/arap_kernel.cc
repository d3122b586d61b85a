#include "core/deform/implicit/track/arap_kernel.h"

#include "core/simd/levels.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/deform/implicit/track/arap_kernel.cc"
#include <hwy/foreach_target.h>

#include "core/simd/pack-inl.h"
#include "core/simd/rotation-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sinew::HWY_NAMESPACE {

std::uint32_t RotationLanes(const float* h, float* r) {
  Pack matrix[9], rotation[9];
  for (int i = 0; i < 9; ++i) matrix[i] = Pack::Load(h + 16 * i);
  const Pack den = NearestRotation16(matrix, rotation);
  for (int i = 0; i < 9; ++i) rotation[i].Store(r + 16 * i);
  return MaskBits(Le(den, Pack::Set(kMinDen)));
}

}  // namespace sinew::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
SINEW_KERNEL(std::uint32_t, NearestRotationsKernel, (const float* h, float* r), RotationLanes,
             (h, r))
#endif
