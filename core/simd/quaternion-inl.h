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

struct PackQuat {
  Pack w, x, y, z;
};

// -1 if q is in the other hemisphere than the pivot's quaternion p, else +1.
HWY_INLINE float Sign(const float* p, const float* q) {
  return p[0] * q[0] + p[1] * q[1] + p[2] * q[2] + p[3] * q[3] < 0.0f ? -1.0f : 1.0f;
}

// A binding's quaternion, or any N numbers that share its sign, in the pivot's hemisphere; and how
// far it is from the pivot's. The slopes of a vertex's weights sum to 0, so that the slope of a
// blend can be summed over `apart`, to which the pivot contributes nothing.
template <std::size_t N>
struct SignedRow {
  float value[N], apart[N];

  SignedRow() = default;
  // One number at a time: kernels broadcast each, and a load of a part of a wider store would have
  // to wait for the whole store.
  HWY_INLINE SignedRow(float sign, const float* q, const float* pivot) {
    for (std::size_t i = 0; i < N; ++i) value[i] = sign * q[i];
    for (std::size_t i = 0; i < N; ++i) apart[i] = value[i] - pivot[i];
  }
};

// sum + w q.
HWY_INLINE void Add(const Pack& w, const float* q, PackQuat& sum) {
  sum.w = MulAdd(w, Pack::Set(q[0]), sum.w);
  sum.x = MulAdd(w, Pack::Set(q[1]), sum.x);
  sum.y = MulAdd(w, Pack::Set(q[2]), sum.y);
  sum.z = MulAdd(w, Pack::Set(q[3]), sum.z);
}

// a * b - c * d
HWY_INLINE Pack Difference(const Pack& a, const Pack& b, const Pack& c, const Pack& d) {
  return NegMulAdd(c, d, a * b);
}

HWY_INLINE Pack Dot4(const PackQuat& a, const PackQuat& b) {
  return MulAdd(a.w, b.w, MulAdd(a.x, b.x, MulAdd(a.y, b.y, a.z * b.z)));
}

HWY_INLINE Pack Length2(const PackQuat& q) {
  return Dot4(q, q);
}

// w v + q x v.
HWY_INLINE PackPoint HalfTurn(const PackQuat& q, const PackPoint& v) {
  return AddScaled(q.w, v, CrossOf({q.x, q.y, q.z}, v));
}

// 2 / |q|^2 for Rotate; a zero q leaves points unchanged.
HWY_INLINE Pack TurnScale(const PackQuat& q) {
  return Pack::Set(2.0f) / Max(Length2(q), Pack::Set(1e-30f));
}

// v rotated by q, which need not have unit length.
HWY_INLINE PackPoint Rotate(const PackQuat& q, const PackPoint& v) {
  return AddScaled(TurnScale(q), CrossOf({q.x, q.y, q.z}, HalfTurn(q, v)), v);
}

}  // namespace sinew::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
