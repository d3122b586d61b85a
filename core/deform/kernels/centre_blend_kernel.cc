#include "core/deform/kernels/centre_blend_kernel.h"

#include "core/simd/levels.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/deform/kernels/centre_blend_kernel.cc"
#include <hwy/foreach_target.h>

#include "core/simd/pack-inl.h"
#include "core/simd/quaternion-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sinew::HWY_NAMESPACE {

// sum += w * (s d), s row-major with rows of 3.
HWY_INLINE void AddStretched(const Pack& w, const float* s, const PackPoint& d, PackPoint& sum) {
  sum.x = MulAdd(w, RowTimes(s, d), sum.x);
  sum.y = MulAdd(w, RowTimes(s + 3, d), sum.y);
  sum.z = MulAdd(w, RowTimes(s + 6, d), sum.z);
}

void CentreBlendBlocks(const CentreBlendKernelArgs& args, std::size_t begin, std::size_t end) {
  for (std::size_t b = begin; b < end; ++b) {
    const PackPoint u = LoadPoint(args.in + b * 48), p = LoadPoint(args.centre + b * 48);
    const PackPoint d = {u.x - p.x, u.y - p.y, u.z - p.z};
    PackQuat rotation = {Pack::Zero(), Pack::Zero(), Pack::Zero(), Pack::Zero()};
    PackPoint moved = {Pack::Zero(), Pack::Zero(), Pack::Zero()};
    const std::size_t first = args.pair_entry[args.pair_offset[b]];
    const float* pivot = args.dual_quats + first * 8;
    for (std::uint32_t k = args.pair_offset[b]; k < args.pair_offset[b + 1]; ++k) {
      const std::size_t entry = args.pair_entry[k];
      const float* q = args.dual_quats + entry * 8;
      const float* stretch = args.stretch + entry * 12;
      const Pack turn = Pack::Load(args.rotation_weights + std::size_t{k} * 16);
      const Pack w = Pack::Load(args.translation_weights + std::size_t{k} * 16);
      Add(turn, Sign(pivot, q), q, rotation);
      AddMoved(w, args.skin + entry * 12, p, moved);
      if (stretch[9] != 0.0f) AddStretched(w, stretch, d, moved);
    }
    const Pack s = Pack::Set(args.signs[first]);
    const PackPoint turned = Rotate(rotation, {s * d.x, s * d.y, s * d.z});
    StorePoint({turned.x + moved.x, turned.y + moved.y, turned.z + moved.z}, args.out + b * 48);
  }
}

}  // namespace sinew::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
SINEW_KERNEL(void, CentreBlendKernel,
             (const CentreBlendKernelArgs& args, std::size_t begin, std::size_t end),
             CentreBlendBlocks, (args, begin, end))
#endif
