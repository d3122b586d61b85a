#include "core/deform/linear_blend_kernel.h"

#include "core/simd/levels.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/deform/linear_blend_kernel.cc"
#include <hwy/foreach_target.h>

#include "core/simd/pack-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sinew::HWY_NAMESPACE {

void LinearBlendBlocks(const LinearBlendKernelArgs& args, std::size_t begin, std::size_t end) {
  for (std::size_t b = begin; b < end; ++b) {
    const float* in = args.in + b * 48;
    const Pack x = Pack::Load(in), y = Pack::Load(in + 16), z = Pack::Load(in + 32);
    Pack sum_x = Pack::Zero(), sum_y = Pack::Zero(), sum_z = Pack::Zero();
    for (std::uint32_t k = args.pair_offset[b]; k < args.pair_offset[b + 1]; ++k) {
      const float* m = args.skin + std::size_t{args.pair_entry[k]} * 12;
      const Pack w = Pack::Load(args.weights + std::size_t{k} * 16);
      const auto row = [&](const float* r) HWY_ATTR {
        return MulAdd(Pack::Set(r[0]), x,
                      MulAdd(Pack::Set(r[1]), y, MulAdd(Pack::Set(r[2]), z, Pack::Set(r[3]))));
      };
      sum_x = MulAdd(w, row(m), sum_x);
      sum_y = MulAdd(w, row(m + 4), sum_y);
      sum_z = MulAdd(w, row(m + 8), sum_z);
    }
    float* out = args.out + b * 48;
    sum_x.Store(out);
    sum_y.Store(out + 16);
    sum_z.Store(out + 32);
  }
}

}  // namespace sinew::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sinew {

HWY_EXPORT(LinearBlendBlocks);

void LinearBlendKernel(const LinearBlendKernelArgs& args, std::size_t begin, std::size_t end) {
  HWY_DYNAMIC_DISPATCH(LinearBlendBlocks)(args, begin, end);
}

}  // namespace sinew
#endif
