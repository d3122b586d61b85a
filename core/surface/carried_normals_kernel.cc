#include "core/surface/carried_normals_kernel.h"

#include "core/simd/levels.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/surface/carried_normals_kernel.cc"
#include <hwy/foreach_target.h>

#include "core/simd/file_order-inl.h"
#include "core/simd/point-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sinew::HWY_NAMESPACE {

void CarriedNormalsBlocks(const CarriedNormalsKernelArgs& given, std::size_t begin, std::size_t end,
                          std::uint16_t* unclear) {
  const CarriedNormalsKernelArgs args = given;
  const Pack one = Pack::Set(1.0f);
  for (std::size_t b = begin; b < end; ++b) {
    const PackPoint first = LoadPoint(args.slopes + b * 96);
    const PackPoint second = LoadPoint(args.slopes + b * 96 + 48);
    const PackPoint normal = CrossOf(first, second);
    const Pack area2 = DotOf(normal, normal), size2 = DotOf(first, first);
    // Squared sine of the angle between the tangents, times the product of their lengths.
    const Pack least = Pack::Set(1e-10f) * size2 * DotOf(second, second);
    const Pack low = Pack::Set(1e-30f), high = Pack::Set(1e34f);
    // NaN is in no range.
    const std::uint32_t clear = MaskBits(And(And(Lt(Max(least, low), area2), Lt(area2, high)),
                                             And(Lt(low, size2), Lt(size2, high))));
    unclear[b - begin] = static_cast<std::uint16_t>(~clear);
    const std::int32_t* const order = args.order + b * 16;
    if (args.normals != nullptr) {
      StoreInFileOrder(Scaled(one / Sqrt(area2), normal), order, args.normals);
    }
    if (args.tangents != nullptr) {
      HWY_ALIGN float lanes[48];
      StorePoint(Scaled(one / Sqrt(size2), first), lanes);
      const float* const handedness = args.handedness + b * 16;
      for (std::size_t i = 0; i < 16 && order[i] >= 0; ++i) {
        const float w = handedness[i];
        const float tangent[4] = {w != 0 ? lanes[i] : 0, w != 0 ? lanes[16 + i] : 0,
                                  w != 0 ? lanes[32 + i] : 0, w};
        std::memcpy(args.tangents + static_cast<std::size_t>(order[i]) * 16, tangent, 16);
      }
    }
  }
}

}  // namespace sinew::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
SINEW_KERNEL(void, CarriedNormalsKernel,
             (const CarriedNormalsKernelArgs& args, std::size_t begin, std::size_t end,
              std::uint16_t* unclear),
             CarriedNormalsBlocks, (args, begin, end, unclear))
#endif
