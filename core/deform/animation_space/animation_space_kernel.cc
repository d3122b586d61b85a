#include "core/deform/animation_space/animation_space_kernel.h"

#include "core/simd/levels.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/deform/animation_space/animation_space_kernel.cc"
#include <hwy/foreach_target.h>

#include "core/simd/point-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sinew::HWY_NAMESPACE {

void AnimationSpaceBlocks(const AnimationSpaceArgs& given, std::size_t begin, std::size_t end) {
  const AnimationSpaceArgs args = given;  // a copy, so that stores cannot alias it
  for (std::size_t b = begin; b < end; ++b) {
    const PackPoint u = LoadPoint(args.in + b * 48);
    PackPoint sum = {Pack::Zero(), Pack::Zero(), Pack::Zero()};
    for (std::uint32_t k = args.pair_offset[b]; k < args.pair_offset[b + 1]; ++k) {
      const float* const values = args.values + std::size_t{k} * 64;
      const Pack w = Pack::Load(values + 48);
      const PackPoint p = AddScaled(w, u, LoadPoint(values));
      const float* const m = args.skin + std::size_t{args.pair_entry[k]} * 12;
      sum = {AddRow(m, p, w, sum.x), AddRow(m + 4, p, w, sum.y), AddRow(m + 8, p, w, sum.z)};
    }
    StorePoint(sum, args.out + b * 48);
  }
}

}  // namespace sinew::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
SINEW_KERNEL(void, AnimationSpaceKernel,
             (const AnimationSpaceArgs& args, std::size_t begin, std::size_t end),
             AnimationSpaceBlocks, (args, begin, end))
#endif
