#include "core/deform/ddm/ddm_kernel.h"

#include "core/simd/levels.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/deform/ddm/ddm_half_kernel.cc"
#include <hwy/foreach_target.h>

#include "core/deform/ddm/ddm_kernel-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sinew::HWY_NAMESPACE {

void DdmHalfBlocks(const DdmKernelArgs& args, std::size_t begin, std::size_t end,
                   std::uint16_t* left) {
  DdmBlocks<true>(args, begin, end, left);
}

}  // namespace sinew::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
SINEW_KERNEL(void, DdmHalfKernel,
             (const DdmKernelArgs& args, std::size_t begin, std::size_t end, std::uint16_t* left),
             DdmHalfBlocks, (args, begin, end, left))
#endif
