#include "core/deform/kernels/centre_blend_kernel.h"

#include "core/simd/levels.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/deform/kernels/centre_blend_kernel.cc"
#include <hwy/foreach_target.h>

#include "core/simd/jet-inl.h"
#include "core/simd/pack-inl.h"
#include "core/simd/quaternion-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sinew::HWY_NAMESPACE {

// sum += w * (s d), s row-major with rows of 3.
template <class N>
HWY_INLINE void AddStretched(const N& w, const float* s, const PointOf<N>& d, PointOf<N>& sum) {
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
    const PackPoint turned = Rotate(rotation, PackPoint{s * d.x, s * d.y, s * d.z});
    StorePoint({turned.x + moved.x, turned.y + moved.y, turned.z + moved.z}, args.out + b * 48);
  }
}

void CentreBlendSlopes(const CentreBlendKernelArgs& args, std::size_t begin, std::size_t end) {
  for (std::size_t b = begin; b < end; ++b) {
    const JetPoint u = LoadJetPoint(args.in + b * 48, args.slopes.in + b * 96);
    const JetPoint p = LoadJetPoint(args.centre + b * 48, args.centre_slopes + b * 96);
    const JetPoint d = {u.x - p.x, u.y - p.y, u.z - p.z};
    const PackPoint at = {p.x.value, p.y.value, p.z.value};
    QuatOf<Jet> rotation = {Jet::Zero(), Jet::Zero(), Jet::Zero(), Jet::Zero()};
    BlendedMotion motion = BlendedMotion::Zero();
    const std::size_t first = args.pair_entry[args.pair_offset[b]];
    const float* pivot = args.dual_quats + first * 8;
    for (std::size_t k = args.pair_offset[b]; k < args.pair_offset[b + 1]; ++k) {
      const std::size_t entry = args.pair_entry[k];
      const float* q = args.dual_quats + entry * 8;
      const float* stretch = args.stretch + entry * 12;
      const Jet turn = LoadJet(args.rotation_weights + k * 16, args.rotation_slopes + k * 32);
      const Jet w = LoadJet(args.translation_weights + k * 16, args.slopes.weights + k * 32);
      Add(turn, Sign(pivot, q), q, rotation);
      motion.Add(w, args.skin + entry * 12, at);
      if (stretch[9] != 0.0f) {
        JetPoint sum = motion.sum;
        AddStretched(w, stretch, d, sum);
        motion.sum = sum;
      }
    }
    const Pack s = Pack::Set(args.signs[first]);
    const JetPoint turned = Rotate(rotation, JetPoint{s * d.x, s * d.y, s * d.z});
    const JetPoint moved =
        motion.Sum({p.x.first, p.y.first, p.z.first}, {p.x.second, p.y.second, p.z.second});
    StoreJetPoint({turned.x + moved.x, turned.y + moved.y, turned.z + moved.z}, args.out + b * 48,
                  args.slopes.out + b * 96);
  }
}

void CentreBlend(const CentreBlendKernelArgs& args, std::size_t begin, std::size_t end) {
  args.slopes.out == nullptr ? CentreBlendBlocks(args, begin, end)
                             : CentreBlendSlopes(args, begin, end);
}

}  // namespace sinew::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
SINEW_KERNEL(void, CentreBlendKernel,
             (const CentreBlendKernelArgs& args, std::size_t begin, std::size_t end), CentreBlend,
             (args, begin, end))
#endif
