#include "core/deform/kernels/centre_blend_kernel.h"

#include "core/simd/levels.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/deform/kernels/centre_blend_kernel.cc"
#include <hwy/foreach_target.h>

#include "core/simd/quaternion-inl.h"
#include "core/simd/slopes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sinew::HWY_NAMESPACE {

// s d, s row-major with rows of 3.
HWY_INLINE PackPoint Stretched(const float* s, const PackPoint& d) {
  return {RowTimes(s, d), RowTimes(s + 3, d), RowTimes(s + 6, d)};
}

template <bool kStretch>
void CentreBlendBlocks(const CentreBlendKernelArgs& args, std::size_t begin, std::size_t end) {
  for (std::size_t b = begin; b < end; ++b) {
    const PackPoint u = LoadPoint(args.in + b * 48), p = LoadPoint(args.centre + b * 48);
    const PackPoint d = Minus(u, p);
    PackQuat rotation = {Pack::Zero(), Pack::Zero(), Pack::Zero(), Pack::Zero()};
    PackPoint moved = {Pack::Zero(), Pack::Zero(), Pack::Zero()};
    const std::size_t first = args.pair_entry[args.pair_offset[b]];
    const float* pivot = args.dual_quats + first * 8;
    for (std::uint32_t k = args.pair_offset[b]; k < args.pair_offset[b + 1]; ++k) {
      const std::size_t entry = args.pair_entry[k];
      const float* quat = args.dual_quats + entry * 8;
      const float* stretch = args.stretch + entry * 12;
      const SignedRow<4> q(Sign(pivot, quat), quat, pivot);
      const Pack w = Pack::Load(args.translation_weights + std::size_t{k} * 16);
      Add(Pack::Load(args.rotation_weights + std::size_t{k} * 16), q.value, rotation);
      AddMoved(w, args.skin + entry * 12, p, moved);
      if (kStretch && stretch[9] != 0.0f) moved = AddScaled(w, Stretched(stretch, d), moved);
    }
    const PackPoint turned = Rotate(rotation, Scaled(Pack::Set(args.signs[first]), d));
    StorePoint(Plus(turned, moved), args.out + b * 48);
  }
}

// With R' the derivative of R along a tangent, u' of u and p' of p:
//   sum_j omega_j A_j p' + sum_j omega'_j M_j p + s R' (u - p) + s R (u' - p').
template <bool kStretch>
void CentreBlendSlopes(const CentreBlendKernelArgs& args, std::size_t begin, std::size_t end) {
  for (std::size_t b = begin; b < end; ++b) {
    const PackPoint u = LoadPoint(args.in + b * 48), p = LoadPoint(args.centre + b * 48);
    const PackPoint d = Minus(u, p);
    const auto slope_d = [&](std::size_t k) HWY_ATTR {
      return Minus(LoadSlope(args.slopes.in, b, k), LoadSlope(args.centre_slopes, b, k));
    };
    const std::size_t first_pair = args.pair_offset[b], end_pair = args.pair_offset[b + 1];
    // One loop for rotations, one for motions: the sums of both do not fit the registers.
    const Pack zero = Pack::Zero();
    PackQuat rotation = {zero, zero, zero, zero};
    PackQuat slope_rotation[kTangents] = {rotation, rotation};
    const std::size_t first = args.pair_entry[first_pair];
    const float* pivot = args.dual_quats + first * 8;
    for (std::size_t pair = first_pair; pair < end_pair; ++pair) {
      const float* quat = args.dual_quats + std::size_t{args.pair_entry[pair]} * 8;
      const SignedRow<4> q(Sign(pivot, quat), quat, pivot);
      const SlopedWeight turn =
          SlopedWeight::Load(args.rotation_weights, args.rotation_slopes, pair);
      Add(turn.value, q.value, rotation);
      if (pair == first_pair) continue;
      SINEW_EACH_TANGENT(k) Add(turn.along[k], q.apart, slope_rotation[k]);
    }
    const Pack s = Pack::Set(args.signs[first]);
    const PackPoint arm = Scaled(s, d);
    const Turning turning(rotation, TurnScale(rotation), arm);
    const PackPoint turned = AddScaled(turning.scale, turning.turned, arm);
    PackPoint slope_turned[kTangents];
    SINEW_EACH_TANGENT(k) {
      const PackPoint dv = Scaled(s, slope_d(k));
      slope_turned[k] = Plus(turning.Slope(slope_rotation[k], dv), dv);
    }
    BlendedMotion motion = BlendedMotion::Zero();
    for (std::size_t pair = first_pair; pair < end_pair; ++pair) {
      const std::size_t entry = args.pair_entry[pair];
      const SlopedWeight w =
          SlopedWeight::Load(args.translation_weights, args.slopes.weights, pair);
      motion.Add(w, args.skin + entry * 12, p);
      const float* stretch = args.stretch + entry * 12;
      if (!kStretch || stretch[9] == 0.0f) continue;
      const PackPoint stretched = Stretched(stretch, d);
      motion.moved = AddScaled(w.value, stretched, motion.moved);
      SINEW_EACH_TANGENT(k) {
        motion.along[k] = AddScaled(w.value, Stretched(stretch, slope_d(k)),
                                    AddScaled(w.along[k], stretched, motion.along[k]));
      }
    }
    StorePoint(Plus(turned, motion.moved), args.out + b * 48);
    SINEW_EACH_TANGENT(k) {
      const PackPoint moved = motion.Slope(k, LoadSlope(args.centre_slopes, b, k));
      StoreSlope(Plus(slope_turned[k], moved), args.slopes.out, b, k);
    }
  }
}

template <bool kStretch>
void CentreBlendOf(const CentreBlendKernelArgs& args, std::size_t begin, std::size_t end) {
  args.slopes.out == nullptr ? CentreBlendBlocks<kStretch>(args, begin, end)
                             : CentreBlendSlopes<kStretch>(args, begin, end);
}

void CentreBlend(const CentreBlendKernelArgs& args, std::size_t begin, std::size_t end) {
  args.stretches ? CentreBlendOf<true>(args, begin, end) : CentreBlendOf<false>(args, begin, end);
}

}  // namespace sinew::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
SINEW_KERNEL(void, CentreBlendKernel,
             (const CentreBlendKernelArgs& args, std::size_t begin, std::size_t end), CentreBlend,
             (args, begin, end))
#endif
