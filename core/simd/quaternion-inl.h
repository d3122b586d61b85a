// quaternion-inl.h - 16 quaternions at a time, and their weighted sum with one sign per joint.
//
// Quaternions are w x y z. All lanes of a block share their strongest joint, the pivot, so the
// hemisphere of every other joint's quaternion is one scalar per block.
#if defined(SINEW_CORE_SIMD_QUATERNION_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SINEW_CORE_SIMD_QUATERNION_INL_H_
#undef SINEW_CORE_SIMD_QUATERNION_INL_H_
#else
#define SINEW_CORE_SIMD_QUATERNION_INL_H_
#endif

#include "core/simd/pack-inl.h"
#include "core/simd/point-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sinew::HWY_NAMESPACE {

template <class N>
struct QuatOf {
  N w, x, y, z;
};
using PackQuat = QuatOf<Pack>;

// -1 if q is in the other hemisphere than the pivot's quaternion p, else +1.
HWY_INLINE float Sign(const float* p, const float* q) {
  return p[0] * q[0] + p[1] * q[1] + p[2] * q[2] + p[3] * q[3] < 0.0f ? -1.0f : 1.0f;
}

template <class N>
HWY_INLINE void Add(const N& w, float sign, const float* q, QuatOf<N>& sum) {
  sum.w = MulAdd(w, Pack::Set(sign * q[0]), sum.w);
  sum.x = MulAdd(w, Pack::Set(sign * q[1]), sum.x);
  sum.y = MulAdd(w, Pack::Set(sign * q[2]), sum.y);
  sum.z = MulAdd(w, Pack::Set(sign * q[3]), sum.z);
}

// a * b - c * d
template <class N>
HWY_INLINE N Difference(const N& a, const N& b, const N& c, const N& d) {
  return NegMulAdd(c, d, a * b);
}

template <class N>
HWY_INLINE N Length2(const QuatOf<N>& q) {
  return MulAdd(q.w, q.w, MulAdd(q.x, q.x, MulAdd(q.y, q.y, q.z * q.z)));
}

// v rotated by q, which need not have unit length; a zero q leaves v unchanged.
template <class N>
HWY_INLINE PointOf<N> Rotate(const QuatOf<N>& q, const PointOf<N>& v) {
  const N scale = Pack::Set(2.0f) / Max(Length2(q), Pack::Set(1e-30f));
  const N cx = MulAdd(q.w, v.x, Difference(q.y, v.z, q.z, v.y));
  const N cy = MulAdd(q.w, v.y, Difference(q.z, v.x, q.x, v.z));
  const N cz = MulAdd(q.w, v.z, Difference(q.x, v.y, q.y, v.x));
  return {MulAdd(scale, Difference(q.y, cz, q.z, cy), v.x),
          MulAdd(scale, Difference(q.z, cx, q.x, cz), v.y),
          MulAdd(scale, Difference(q.x, cy, q.y, cx), v.z)};
}

}  // namespace sinew::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
