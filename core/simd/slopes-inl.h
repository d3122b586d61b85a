// slopes-inl.h - the differential of a kernel's points along two tangents per lane, for normals: in
// closed form, beside values whose bits it does not touch.
//
// A blend is a function of sums over joints that are linear in the weights. Their derivatives along
// a tangent are the same sums with the weights' slopes, to which the chain rule is applied once
// per tangent.
#if defined(SINEW_CORE_SIMD_SLOPES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SINEW_CORE_SIMD_SLOPES_INL_H_
#undef SINEW_CORE_SIMD_SLOPES_INL_H_
#else
#define SINEW_CORE_SIMD_SLOPES_INL_H_
#endif

#include "core/simd/pack-inl.h"
#include "core/simd/point-inl.h"
#include "core/simd/quaternion-inl.h"
#include "core/simd/slope_args.h"

HWY_BEFORE_NAMESPACE();
namespace sinew::HWY_NAMESPACE {

inline constexpr std::size_t kTangents = 2;

// Unrolled early, so that what belongs to a tangent stays in registers.
#undef SINEW_EACH_TANGENT
#define SINEW_EACH_TANGENT(k) \
  HWY_UNROLL(2)               \
  for (std::size_t k = 0; k < kTangents; ++k)

// The weights of a pair [16], with their slopes [2][16].
struct SlopedWeight {
  Pack value, along[kTangents];

  static HWY_INLINE SlopedWeight Load(const float* weights, const float* slopes, std::size_t pair) {
    const float* const along = slopes + pair * 32;
    return {Pack::Load(weights + pair * 16), {Pack::Load(along), Pack::Load(along + 16)}};
  }
};

// sum_j w_j M_j u and its derivatives: the matrices are blended once for both tangents.
struct BlendedMotion {
  PackPoint moved;             // sum_j w_j M_j u
  PackPoint along[kTangents];  // sum_j w'_j M_j u
  Pack linear[9];              // sum_j w_j A_j, A the linear part of M

  static HWY_INLINE BlendedMotion Zero() {
    const Pack zero = Pack::Zero();
    const PackPoint none = {zero, zero, zero};
    BlendedMotion motion = {none, {none, none}, {}};
    HWY_UNROLL(9)
    for (int i = 0; i < 9; ++i) motion.linear[i] = zero;
    return motion;
  }
  // m row-major 3x4.
  HWY_INLINE void Add(const SlopedWeight& w, const float* m, const PackPoint& u) {
    const PackPoint p = Transform(m, u);
    moved = AddScaled(w.value, p, moved);
    SINEW_EACH_TANGENT(k) along[k] = AddScaled(w.along[k], p, along[k]);
    HWY_UNROLL(9)
    for (int i = 0; i < 9; ++i) {
      linear[i] = MulAdd(w.value, Pack::Set(m[i / 3 * 4 + i % 3]), linear[i]);
    }
  }
  // The derivative along tangent k, along which u changes by `slope`.
  HWY_INLINE PackPoint Slope(std::size_t k, const PackPoint& slope) const {
    return AddTurned(linear, slope, along[k]);
  }
};

// A rotation v + scale * turned of v by q, scale = 2 / |q|^2, and what its derivatives share.
// Borrows q and v: copies of such structs would pass through memory.
struct Turning {
  const PackQuat& q;
  const PackPoint& v;
  Pack scale;
  PackPoint half, turned;  // half = w v + q x v, turned = q x half

  HWY_INLINE Turning(const PackQuat& by, const Pack& scaled, const PackPoint& point)
      : q(by),
        v(point),
        scale(scaled),
        half(HalfTurn(q, v)),
        turned(CrossOf({q.x, q.y, q.z}, half)) {}
  // How scale * turned changes when q changes by dq and v by dv: |q|^2 changes by 2 q . dq.
  HWY_INLINE PackPoint Slope(const PackQuat& dq, const PackPoint& dv) const {
    const PackPoint axis = {q.x, q.y, q.z}, daxis = {dq.x, dq.y, dq.z};
    const PackPoint dhalf =
        AddCross(axis, dv, AddCross(daxis, v, AddScaled(q.w, dv, Scaled(dq.w, v))));
    const PackPoint sum = AddCross(axis, dhalf, CrossOf(daxis, half));
    const Pack shrink = scale * Dot4(q, dq);
    return Scaled(scale, {NegMulAdd(shrink, turned.x, sum.x), NegMulAdd(shrink, turned.y, sum.y),
                          NegMulAdd(shrink, turned.z, sum.z)});
  }
};

// Tangent k of a block, [B][2][3][16].
HWY_INLINE PackPoint LoadSlope(const float* slopes, std::size_t block, std::size_t k) {
  return LoadPoint(slopes + block * 96 + k * 48);
}
HWY_INLINE void StoreSlope(const PackPoint& p, float* slopes, std::size_t block, std::size_t k) {
  StorePoint(p, slopes + block * 96 + k * 48);
}

}  // namespace sinew::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
