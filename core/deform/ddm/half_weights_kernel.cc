#include "core/deform/ddm/half_weights_kernel.h"

#include "core/simd/levels.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/deform/ddm/half_weights_kernel.cc"
#include <hwy/foreach_target.h>

#include "core/simd/pack-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sinew::HWY_NAMESPACE {

void HalfWeights(const std::uint16_t* halves, std::size_t pairs, float* out) {
  Pack sum = Pack::Zero();
  for (std::size_t k = 0; k < pairs; ++k) sum = sum + Pack::LoadHalf(halves + k * 16);
  for (std::size_t k = 0; k < pairs; ++k) {
    (Pack::LoadHalf(halves + k * 16) / sum).Store(out + k * 16);
  }
}

}  // namespace sinew::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
SINEW_KERNEL(void, HalfWeightsKernel, (const std::uint16_t* halves, std::size_t pairs, float* out),
             HalfWeights, (halves, pairs, out))
#endif
