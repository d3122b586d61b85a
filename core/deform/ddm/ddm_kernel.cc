#include "core/deform/ddm/ddm_kernel.h"

#include "core/simd/levels.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/deform/ddm/ddm_kernel.cc"
#include <hwy/foreach_target.h>

#include "core/deform/ddm/ddm_kernel-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sinew::HWY_NAMESPACE {

void DdmFloatBlocks(const DdmKernelArgs& args, std::size_t begin, std::size_t end,
                    std::uint16_t* left) {
  DdmBlocks<false>(args, begin, end, left);
}

}  // namespace sinew::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sinew {

HWY_EXPORT(DdmFloatBlocks);

void DdmKernel(const DdmKernelArgs& args, std::size_t begin, std::size_t end, std::uint16_t* left) {
  if (args.table.halves != nullptr) return DdmHalfKernel(args, begin, end, left);
  HWY_DYNAMIC_DISPATCH(DdmFloatBlocks)(args, begin, end, left);
}

}  // namespace sinew
#endif
