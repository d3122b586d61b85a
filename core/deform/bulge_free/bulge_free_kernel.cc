#include "core/deform/bulge_free/bulge_free_kernel.h"

#include <limits>

#include "core/simd/levels.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/deform/bulge_free/bulge_free_kernel.cc"
#include <hwy/foreach_target.h>

#include "core/simd/pack-inl.h"
#include "core/simd/point-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sinew::HWY_NAMESPACE {

// p minus its nearest point on a bone. On overflow the root counts as nearest, because Min and Max
// ignore NaN.
HWY_INLINE PackPoint FromBone(const float* bone, const PackPoint& p) {
  const PackPoint r = {p.x - Pack::Set(bone[0]), p.y - Pack::Set(bone[1]),
                       p.z - Pack::Set(bone[2])};
  const Pack ex = Pack::Set(bone[3]), ey = Pack::Set(bone[4]), ez = Pack::Set(bone[5]);
  const Pack along = MulAdd(r.x, ex, MulAdd(r.y, ey, r.z * ez)) * Pack::Set(bone[6]);
  const Pack s = Min(Max(along, Pack::Zero()), Pack::Set(1.0f));
  return {NegMulAdd(s, ex, r.x), NegMulAdd(s, ey, r.y), NegMulAdd(s, ez, r.z)};
}

HWY_INLINE Pack Length(const PackPoint& v) {
  return Sqrt(MulAdd(v.x, v.x, MulAdd(v.y, v.y, v.z * v.z)));
}

// Factor of `in - c` to add: 0 inside rho, down to -1.
HWY_INLINE Pack Factor(const Pack& distance, const Pack& rho, const Pack& width) {
  const Pack tiny = Pack::Set(1e-30f), one = Pack::Set(1.0f);
  const Pack beyond = (distance - rho) / Max(width * rho, tiny);
  const Pack t = Max(Min(beyond, one), Pack::Zero());
  const Pack eased = t * t * NegMulAdd(Pack::Set(2.0f), t, Pack::Set(3.0f));
  return Min(rho / Max(distance, tiny) - one, Pack::Zero()) * eased;
}

void ProjectionBlocks(const ProjectionKernelArgs& args, std::size_t begin, std::size_t end) {
  const Pack width = Pack::Set(args.width);
  const Pack infinite = Pack::Set(std::numeric_limits<float>::infinity());
  for (std::size_t b = begin; b < end; ++b) {
    const PackPoint u = LoadPoint(args.rest + b * 48), v = LoadPoint(args.in + b * 48);
    PackPoint sum = {Pack::Zero(), Pack::Zero(), Pack::Zero()};
    for (std::uint32_t k = args.pair_offset[b]; k < args.pair_offset[b + 1]; ++k) {
      const std::size_t entry = args.pair_entry[k];
      const float* bone = args.bones + entry * kBoneFloats;
      const Pack rho = Length(FromBone(bone, Transform(args.skin + entry * 12, u)));
      const PackPoint offset = FromBone(bone, v);
      const Pack share = Pack::Load(args.shares + std::size_t{k} * 16);
      const Pack distance = Length(offset);
      const Pack f = share * Factor(distance, rho, width);
      const PackMask finite = Lt(distance, infinite);
      sum.x = IfThenElse(finite, MulAdd(f, offset.x, sum.x), sum.x);
      sum.y = IfThenElse(finite, MulAdd(f, offset.y, sum.y), sum.y);
      sum.z = IfThenElse(finite, MulAdd(f, offset.z, sum.z), sum.z);
    }
    StorePoint({v.x + sum.x, v.y + sum.y, v.z + sum.z}, args.out + b * 48);
  }
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
             (const ProjectionKernelArgs& args, std::size_t begin, std::size_t end),
             ProjectionBlocks, (args, begin, end))
SINEW_KERNEL(void, PushKernel, (const PushKernelArgs& args, std::size_t begin, std::size_t end),
             PushBlocks, (args, begin, end))
#endif
