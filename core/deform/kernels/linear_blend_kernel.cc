#include "core/deform/kernels/linear_blend_kernel.h"

#include "core/simd/levels.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/deform/kernels/linear_blend_kernel.cc"
#include <hwy/foreach_target.h>

#include "core/simd/point-inl.h"
#include "core/simd/slopes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sinew::HWY_NAMESPACE {

void LinearBlendBlocks(const LinearBlendKernelArgs& given, std::size_t begin, std::size_t end) {
  const LinearBlendKernelArgs args = given;  // a copy, so that stores cannot alias it
  for (std::size_t b = begin; b < end; ++b) {
    const PackPoint u = LoadPoint(args.in + b * 48);
    PackPoint sum = {Pack::Zero(), Pack::Zero(), Pack::Zero()};
    for (std::uint32_t k = args.pair_offset[b]; k < args.pair_offset[b + 1]; ++k) {
      const Pack w = Pack::Load(args.weights + std::size_t{k} * 16);
      AddMoved(w, args.skin + std::size_t{args.pair_entry[k]} * 12, u, sum);
    }
    StorePoint(sum, args.out + b * 48);
  }
}

void LinearBlendSlopes(const LinearBlendKernelArgs& given, std::size_t begin, std::size_t end) {
  const LinearBlendKernelArgs args = given;
  for (std::size_t b = begin; b < end; ++b) {
    const PackPoint u = LoadPoint(args.in + b * 48);
    BlendedMotion motion = BlendedMotion::Zero();
    for (std::size_t k = args.pair_offset[b]; k < args.pair_offset[b + 1]; ++k) {
      motion.Add(SlopedWeight::Load(args.weights, args.slopes.weights, k),
                 args.skin + std::size_t{args.pair_entry[k]} * 12, u);
    }
    StorePoint(motion.moved, args.out + b * 48);
    SINEW_EACH_TANGENT(k) {
      StoreSlope(motion.Slope(k, LoadSlope(args.slopes.in, b, k)), args.slopes.out, b, k);
    }
  }
}

void LinearBlend(const LinearBlendKernelArgs& args, std::size_t begin, std::size_t end) {
  args.slopes.out == nullptr ? LinearBlendBlocks(args, begin, end)
                             : LinearBlendSlopes(args, begin, end);
}

}  // namespace sinew::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
SINEW_KERNEL(void, LinearBlendKernel,
             (const LinearBlendKernelArgs& args, std::size_t begin, std::size_t end), LinearBlend,
             (args, begin, end))
#endif
