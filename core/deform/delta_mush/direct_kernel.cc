#include "core/deform/delta_mush/direct_kernel.h"

#include "core/simd/levels.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/deform/delta_mush/direct_kernel.cc"
#include <hwy/foreach_target.h>

#include "core/simd/rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sinew::HWY_NAMESPACE {

void DirectBlocks(const DirectKernelArgs& given, std::size_t begin, std::size_t end) {
  const DirectKernelArgs args = given;  // a copy, so that stores cannot alias it
  for (std::size_t b = begin; b < end; ++b) {
    PackPoint sum = {Pack::Zero(), Pack::Zero(), Pack::Zero()};
    for (std::size_t k = args.pair_offset[b]; k < args.pair_offset[b + 1]; ++k) {
      const PackPoint psi = LoadPoint(args.moments + k * 64);
      const Pack omega = Pack::Load(args.moments + k * 64 + 48);
      const float* m = args.skin + std::size_t{args.pair_entry[k]} * 12;
      sum.x = MulAdd(omega, Pack::Set(m[3] - args.origin[0]), sum.x + RowTimes(m, psi));
      sum.y = MulAdd(omega, Pack::Set(m[7] - args.origin[1]), sum.y + RowTimes(m + 4, psi));
      sum.z = MulAdd(omega, Pack::Set(m[11] - args.origin[2]), sum.z + RowTimes(m + 8, psi));
    }
    StoreRows(sum, args.out + b * 64);
  }
}

}  // namespace sinew::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
SINEW_KERNEL(void, DirectKernel, (const DirectKernelArgs& args, std::size_t begin, std::size_t end),
             DirectBlocks, (args, begin, end))
#endif
