#include "core/deform/bulge_free/bulge_free_kernel.h"

#include <limits>
#include <type_traits>

#include "core/simd/levels.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/deform/bulge_free/bulge_free_kernel.cc"
#include <hwy/foreach_target.h>

#include "core/simd/jet-inl.h"
#include "core/simd/pack-inl.h"
#include "core/simd/point-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sinew::HWY_NAMESPACE {

// p minus its nearest point on a bone. On overflow the root counts as nearest, because Min and Max
// ignore NaN.
template <class N>
HWY_INLINE PointOf<N> FromBone(const float* bone, const PointOf<N>& p) {
  const PointOf<N> r = {p.x - Pack::Set(bone[0]), p.y - Pack::Set(bone[1]),
                        p.z - Pack::Set(bone[2])};
  const Pack ex = Pack::Set(bone[3]), ey = Pack::Set(bone[4]), ez = Pack::Set(bone[5]);
  const N along = MulAdd(r.x, ex, MulAdd(r.y, ey, r.z * ez)) * Pack::Set(bone[6]);
  const N s = Min(Max(along, Pack::Zero()), Pack::Set(1.0f));
  return {NegMulAdd(s, ex, r.x), NegMulAdd(s, ey, r.y), NegMulAdd(s, ez, r.z)};
}

template <class N>
HWY_INLINE N Length(const PointOf<N>& v) {
  return Sqrt(MulAdd(v.x, v.x, MulAdd(v.y, v.y, v.z * v.z)));
}

// Factor of `in - c` to add: 0 inside rho, down to -1.
template <class N>
HWY_INLINE N Factor(const N& distance, const N& rho, const Pack& width) {
  const Pack tiny = Pack::Set(1e-30f), one = Pack::Set(1.0f);
  const N beyond = (distance - rho) / Max(width * rho, tiny);
  const N t = Max(Min(beyond, one), Pack::Zero());
  const N eased = t * t * NegMulAdd(Pack::Set(2.0f), t, Pack::Set(3.0f));
  return Min(rho / Max(distance, tiny) - one, Pack::Zero()) * eased;
}

// The corrected point; share(k) is that of pair k.
template <class N, class Share>
HWY_INLINE PointOf<N> Projected(const ProjectionKernelArgs& args, std::size_t b,
                                const PointOf<N>& u, const PointOf<N>& v, const Share& share) {
  const Pack width = Pack::Set(args.width);
  const Pack infinite = Pack::Set(std::numeric_limits<float>::infinity());
  PointOf<N> sum = {N::Zero(), N::Zero(), N::Zero()};
  for (std::size_t k = args.pair_offset[b]; k < args.pair_offset[b + 1]; ++k) {
    const std::size_t entry = args.pair_entry[k];
    const float* bone = args.bones + entry * kBoneFloats;
    if constexpr (std::is_same_v<N, Jet>) {
      // Most vertices do not bulge.
      const Pack rest = Length(FromBone(bone, Transform(args.skin + entry * 12, ValueOf(u))));
      if (MaskBits(Lt(rest, Length(FromBone(bone, ValueOf(v))))) == 0) continue;
    }
    const N rho = Length(FromBone(bone, Transform(args.skin + entry * 12, u)));
    const PointOf<N> offset = FromBone(bone, v);
    const N distance = Length(offset);
    const N f = share(k) * Factor(distance, rho, width);
    const PackMask finite = Lt(ValueOf(distance), infinite);
    sum.x = IfThenElse(finite, MulAdd(f, offset.x, sum.x), sum.x);
    sum.y = IfThenElse(finite, MulAdd(f, offset.y, sum.y), sum.y);
    sum.z = IfThenElse(finite, MulAdd(f, offset.z, sum.z), sum.z);
  }
  return {v.x + sum.x, v.y + sum.y, v.z + sum.z};
}

void ProjectionBlocks(const ProjectionKernelArgs& args, std::size_t begin, std::size_t end) {
  const auto share = [&](std::size_t k) HWY_ATTR { return Pack::Load(args.shares + k * 16); };
  for (std::size_t b = begin; b < end; ++b) {
    const PackPoint u = LoadPoint(args.rest + b * 48), v = LoadPoint(args.in + b * 48);
    StorePoint(Projected(args, b, u, v, share), args.out + b * 48);
  }
}

void ProjectionSlopes(const ProjectionKernelArgs& args, std::size_t begin, std::size_t end) {
  const auto share = [&](std::size_t k) HWY_ATTR {
    return LoadJet(args.shares + k * 16, args.slopes.weights + k * 32);
  };
  for (std::size_t b = begin; b < end; ++b) {
    const JetPoint u = LoadJetPoint(args.rest + b * 48, args.rest_slopes + b * 96);
    const JetPoint v = LoadJetPoint(args.in + b * 48, args.slopes.in + b * 96);
    StoreJetPoint(Projected(args, b, u, v, share), args.out + b * 48, args.slopes.out + b * 96);
  }
}

void Projection(const ProjectionKernelArgs& args, std::size_t begin, std::size_t end) {
  args.slopes.out == nullptr ? ProjectionBlocks(args, begin, end)
                             : ProjectionSlopes(args, begin, end);
}

void PushBlocks(const PushKernelArgs& args, std::size_t begin, std::size_t end) {
  for (std::size_t b = begin; b < end; ++b) {
    PackPoint v = LoadPoint(args.in + b * 48);
    for (std::uint32_t k = args.pair_offset[b]; k < args.pair_offset[b + 1]; ++k) {
      if (args.pair_push[k] == kNoPush) continue;
      const float* push = args.pushes + std::size_t{args.pair_push[k]} * kPushFloats;
      const Pack share = Pack::Load(args.shares + std::size_t{k} * 16);
      v.x = MulAdd(share, Pack::Set(push[0]), v.x);
      v.y = MulAdd(share, Pack::Set(push[1]), v.y);
      v.z = MulAdd(share, Pack::Set(push[2]), v.z);
    }
    StorePoint(v, args.out + b * 48);
  }
}

}  // namespace sinew::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
SINEW_KERNEL(void, ProjectionKernel,
             (const ProjectionKernelArgs& args, std::size_t begin, std::size_t end), Projection,
             (args, begin, end))
SINEW_KERNEL(void, PushKernel, (const PushKernelArgs& args, std::size_t begin, std::size_t end),
             PushBlocks, (args, begin, end))
#endif
