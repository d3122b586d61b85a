#include "core/deform/bulge_free/bulge_free_kernel.h"

#include <limits>

#include "core/simd/levels.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/deform/bulge_free/bulge_free_kernel.cc"
#include <hwy/foreach_target.h>

#include "core/simd/pack-inl.h"
#include "core/simd/point-inl.h"
#include "core/simd/slopes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sinew::HWY_NAMESPACE {

// Shorter lengths are divided by as if they were this long.
inline constexpr float kTinyLength = 1e-30f;

// A point seen from a bone: how far along it its nearest point lies, from 0 to 1, and the point
// minus that. On overflow the root counts as nearest, because Min and Max ignore NaN.
struct Seen {
  Pack along;
  PackPoint offset;
};
HWY_INLINE PackPoint Axis(const float* bone) {
  return {Pack::Set(bone[3]), Pack::Set(bone[4]), Pack::Set(bone[5])};
}
HWY_INLINE Seen FromBone(const float* bone, const PackPoint& p) {
  const PackPoint r =
      Minus(p, PackPoint{Pack::Set(bone[0]), Pack::Set(bone[1]), Pack::Set(bone[2])});
  const PackPoint e = Axis(bone);
  const Pack along = DotOf(r, e) * Pack::Set(bone[6]);
  const Pack s = Min(Max(along, Pack::Zero()), Pack::Set(1.0f));
  return {s, {NegMulAdd(s, e.x, r.x), NegMulAdd(s, e.y, r.y), NegMulAdd(s, e.z, r.z)}};
}

HWY_INLINE Pack Length(const PackPoint& v) {
  return Sqrt(DotOf(v, v));
}

// How a point's distance from a bone eases the correction in: 0 inside rho, 1 beyond the width.
struct Easing {
  Pack at, value;
};
HWY_INLINE Easing Eased(const Pack& distance, const Pack& rho, const Pack& width) {
  const Pack beyond = (distance - rho) / Max(width * rho, Pack::Set(kTinyLength));
  const Pack t = Max(Min(beyond, Pack::Set(1.0f)), Pack::Zero());
  return {t, t * t * NegMulAdd(Pack::Set(2.0f), t, Pack::Set(3.0f))};
}

// What a pair adds to a point: share * shrink * ease * offset, shrink from 0 down to -1.
struct Pull {
  Seen seen;
  Pack rho, distance, shrink;
  Easing ease;
  PackMask finite;

  HWY_INLINE Pull(const Pack& rest, const Seen& posed, const Pack& width)
      : seen(posed), rho(rest), distance(Length(posed.offset)) {
    const Pack tiny = Pack::Set(kTinyLength), one = Pack::Set(1.0f);
    ease = Eased(distance, rho, width);
    shrink = Min(rho / Max(distance, tiny) - one, Pack::Zero());
    finite = Lt(distance, Pack::Set(std::numeric_limits<float>::infinity()));
  }
  HWY_INLINE Pack Factor() const { return shrink * ease.value; }
  HWY_INLINE PackPoint Added(const Pack& f, const PackPoint& sum) const {
    return Chosen(finite, AddScaled(f, seen.offset, sum), sum);
  }
};

void ProjectionBlocks(const ProjectionKernelArgs& args, std::size_t begin, std::size_t end) {
  const Pack width = Pack::Set(args.width);
  for (std::size_t b = begin; b < end; ++b) {
    const PackPoint u = LoadPoint(args.rest + b * 48), v = LoadPoint(args.in + b * 48);
    PackPoint sum = {Pack::Zero(), Pack::Zero(), Pack::Zero()};
    for (std::size_t k = args.pair_offset[b]; k < args.pair_offset[b + 1]; ++k) {
      const std::size_t entry = args.pair_entry[k];
      const float* bone = args.bones + entry * kBoneFloats;
      const Pack rho = Length(FromBone(bone, Transform(args.skin + entry * 12, u)).offset);
      const Pull pull(rho, FromBone(bone, v), width);
      sum = pull.Added(Pack::Load(args.shares + k * 16) * pull.Factor(), sum);
    }
    StorePoint(Plus(v, sum), args.out + b * 48);
  }
}

// With a the rest point as the pair's matrix moves it, minus its nearest point on the bone, and o
// the posed point minus its own: the gradient of a distance is the unit vector from the nearest
// point, so rho' = a . A u' / rho and distance' = o . v' / distance. With q = rho / distance, g =
// (q - 1) ease(t) and t = (distance - rho) / (width rho),
//   g' = ease q' + (q - 1) 6 t (1 - t) t',
//   q' = (rho' - q distance') / distance, t' = (distance' - (1 + width t) rho') / (width rho).
void ProjectionSlopes(const ProjectionKernelArgs& args, std::size_t begin, std::size_t end) {
  const Pack width = Pack::Set(args.width), zero = Pack::Zero(), one = Pack::Set(1.0f);
  const Pack tiny = Pack::Set(kTinyLength);
  const PackPoint none = {zero, zero, zero};
  for (std::size_t b = begin; b < end; ++b) {
    const PackPoint u = LoadPoint(args.rest + b * 48), v = LoadPoint(args.in + b * 48);
    PackPoint sum = none, slopes[kTangents] = {none, none};
    for (std::size_t pair = args.pair_offset[b]; pair < args.pair_offset[b + 1]; ++pair) {
      const std::size_t entry = args.pair_entry[pair];
      const float* bone = args.bones + entry * kBoneFloats;
      const float* skin = args.skin + entry * 12;
      const PackPoint a = FromBone(bone, Transform(skin, u)).offset;
      const Pack rho = Length(a);
      const Seen seen = FromBone(bone, v);
      // Most vertices do not bulge.
      if (MaskBits(Lt(rho, Length(seen.offset))) == 0) continue;
      const Pull pull(rho, seen, width);
      const SlopedWeight share = SlopedWeight::Load(args.shares, args.slopes.weights, pair);
      const Pack factor = pull.Factor();
      sum = pull.Added(share.value * factor, sum);

      const PackMask bulges = Lt(rho, pull.distance);
      const Pack to_distance = one / Max(pull.distance, tiny), to_rho = one / Max(rho, tiny);
      const Pack t = pull.ease.at, ratio = rho * to_distance;
      const Pack to_width = one / Max(width * rho, tiny);
      const Pack steep = pull.shrink * Pack::Set(6.0f) * t * (one - t) * to_width;
      // d factor / d distance over the distance, d factor / d rho over rho.
      const Pack by_distance =
          IfThenElse(bulges, NegMulAdd(pull.ease.value * ratio, to_distance, steep), zero) *
          to_distance;
      const Pack by_rho =
          IfThenElse(bulges, NegMulAdd(steep, MulAdd(width, t, one), pull.ease.value * to_distance),
                     zero) *
          to_rho;
      const Pack m[9] = {Pack::Set(skin[0]), Pack::Set(skin[4]), Pack::Set(skin[8]),
                         Pack::Set(skin[1]), Pack::Set(skin[5]), Pack::Set(skin[9]),
                         Pack::Set(skin[2]), Pack::Set(skin[6]), Pack::Set(skin[10])};
      const PackPoint back = AddTurned(m, a, none);  // A^T a
      const PackPoint e = Axis(bone);
      const PackMask beside = Lt(seen.along * (seen.along - one), zero);
      const Pack per_axis = IfThenElse(beside, Pack::Set(bone[6]), zero);
      SINEW_EACH_TANGENT(k) {
        const PackPoint dv = LoadSlope(args.slopes.in, b, k);
        const PackPoint du = LoadSlope(args.rest_slopes, b, k);
        const Pack df = MulAdd(by_rho, DotOf(back, du), by_distance * DotOf(seen.offset, dv));
        const Pack along = per_axis * DotOf(e, dv);
        const PackPoint doffset = {NegMulAdd(along, e.x, dv.x), NegMulAdd(along, e.y, dv.y),
                                   NegMulAdd(along, e.z, dv.z)};
        const Pack by_share = MulAdd(share.value, df, share.along[k] * factor);
        slopes[k] = Chosen(
            pull.finite,
            AddScaled(by_share, seen.offset, AddScaled(share.value * factor, doffset, slopes[k])),
            slopes[k]);
      }
    }
    StorePoint(Plus(v, sum), args.out + b * 48);
    SINEW_EACH_TANGENT(k) {
      StoreSlope(Plus(LoadSlope(args.slopes.in, b, k), slopes[k]), args.slopes.out, b, k);
    }
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
