// rotation-inl.h - nearest rotations of 16 3x3 matrices at a time, in float.
//
// The rotation R that maximises tr(R^T H) over det R = +1, reflections and rank 2 included: scale
// to Frobenius norm 1, find f = s1 + s2 + sign(det) s3 as the largest root of f^4 - 2 f^2 - 8 det f
// + 1 - 4 |cof|^2 by five Halley steps from sqrt(3), then R = (H ((f^2 + 1) I - 2 H^T H) + 2 f cof
// H) / den and one Newton-Schulz step. The error is at most 3e-7 rad for well-shaped neighbourhoods
// and grows as 1 / den. Source: R = df/dH as in Lin, Chitalu, Komura 2022; Halley steps suit float
// precision.
#if defined(SINEW_CORE_SIMD_ROTATION_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SINEW_CORE_SIMD_ROTATION_INL_H_
#undef SINEW_CORE_SIMD_ROTATION_INL_H_
#else
#define SINEW_CORE_SIMD_ROTATION_INL_H_
#endif

#include "core/simd/pack-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sinew::HWY_NAMESPACE {

// Sum over k < 3 of a[k] * b[k * stride], highest k innermost.
HWY_INLINE Pack Dot3(const Pack* a, const Pack* b, int stride) {
  return MulAdd(a[0], b[0], MulAdd(a[1], b[stride], a[2] * b[2 * stride]));
}

HWY_INLINE Pack Norm9(const Pack* h) {
  Pack sum = h[0] * h[0];
  for (int i = 1; i < 9; ++i) sum = MulAdd(h[i], h[i], sum);
  return sum;
}

// h^T h as 00 01 02 11 12 22.
template <class N>
HWY_INLINE void Gram(const N* h, N* gram) {
  gram[0] = MulAdd(h[0], h[0], MulAdd(h[3], h[3], h[6] * h[6]));
  gram[1] = MulAdd(h[0], h[1], MulAdd(h[3], h[4], h[6] * h[7]));
  gram[2] = MulAdd(h[0], h[2], MulAdd(h[3], h[5], h[6] * h[8]));
  gram[3] = MulAdd(h[1], h[1], MulAdd(h[4], h[4], h[7] * h[7]));
  gram[4] = MulAdd(h[1], h[2], MulAdd(h[4], h[5], h[7] * h[8]));
  gram[5] = MulAdd(h[2], h[2], MulAdd(h[5], h[5], h[8] * h[8]));
}

// out = h * s, s symmetric in the order of Gram.
HWY_INLINE void TimesSymmetric(const Pack* h, const Pack* s, Pack* out) {
  const Pack full[9] = {s[0], s[1], s[2], s[1], s[3], s[4], s[2], s[4], s[5]};
  for (int r = 0; r < 3; ++r) {
    for (int c = 0; c < 3; ++c) out[3 * r + c] = Dot3(h + 3 * r, full + c, 3);
  }
}

// Row i is the cross product of the other two rows of n.
HWY_INLINE void Cofactor(const Pack* n, Pack* out) {
  out[0] = NegMulAdd(n[5], n[7], n[4] * n[8]);
  out[1] = NegMulAdd(n[3], n[8], n[5] * n[6]);
  out[2] = NegMulAdd(n[4], n[6], n[3] * n[7]);
  out[3] = NegMulAdd(n[8], n[1], n[7] * n[2]);
  out[4] = NegMulAdd(n[6], n[2], n[8] * n[0]);
  out[5] = NegMulAdd(n[7], n[0], n[6] * n[1]);
  out[6] = NegMulAdd(n[2], n[4], n[1] * n[5]);
  out[7] = NegMulAdd(n[0], n[5], n[2] * n[3]);
  out[8] = NegMulAdd(n[1], n[3], n[0] * n[4]);
}

// Scales h to Frobenius norm 1, in two steps so that squares neither overflow nor underflow. Zero
// stays zero.
HWY_INLINE void NormaliseMatrix(const Pack* h, Pack* out) {
  Pack largest = Abs(h[0]);
  for (int i = 1; i < 9; ++i) largest = Max(largest, Abs(h[i]));
  const Pack first = Pack::Set(1.0f) / Max(largest, Pack::Set(1e-37f));
  for (int i = 0; i < 9; ++i) out[i] = h[i] * first;
  const Pack second = Pack::Set(1.0f) / Sqrt(Max(Norm9(out), Pack::Set(0.5f)));
  for (int i = 0; i < 9; ++i) out[i] = out[i] * second;
}

// The largest root f, for a = |cof|^2 and c = det of a matrix of norm 1.
HWY_INLINE Pack SingularSum(const Pack& a, const Pack& c) {
  const Pack one = Pack::Set(1.0f), two = Pack::Set(2.0f), four = Pack::Set(4.0f);
  const Pack constant = NegMulAdd(four, a, one), c8 = Pack::Set(8.0f) * c;
  Pack f = Pack::Set(1.7320508f);
  for (int step = 0; step < 5; ++step) {
    const Pack f2 = f * f;
    const Pack value = MulAdd(f2, f2 - two, NegMulAdd(c8, f, constant));
    const Pack slope = MulAdd(four * f, f2 - one, Pack::Zero() - c8);
    const Pack curve = MulAdd(Pack::Set(12.0f), f2, Pack::Set(-4.0f));
    const Pack below = NegMulAdd(value, curve, two * slope * slope);
    f = f - two * value * slope / Max(below, Pack::Set(1e-20f));
  }
  return f;
}

// Below this value of den, five Halley steps in float are not accurate enough.
inline constexpr float kMinDen = 0.05f;

// r = nearest rotation of h, row-major. Returns den = 2 (s1 + s2) (s2 + s3') (s3' + s1) of h / |h|,
// s3' = sign(det) s3. Below about 0.02 (0 for h = 0) r is inaccurate or not a rotation, but always
// finite.
HWY_INLINE Pack NearestRotation16(const Pack* h, Pack* r) {
  Pack n[9];
  NormaliseMatrix(h, n);
  Pack cofactor[9];
  Cofactor(n, cofactor);
  const Pack det = Dot3(n, cofactor, 1);
  const Pack f = SingularSum(Norm9(cofactor), det);
  const Pack one = Pack::Set(1.0f), minus_two = Pack::Set(-2.0f);
  const Pack f2 = f * f;
  const Pack den = MulAdd(f, f2 - one, minus_two * det);

  Pack s[6];
  Gram(n, s);
  for (int i = 0; i < 6; ++i) s[i] = minus_two * s[i];
  for (const int i : {0, 3, 5}) s[i] = s[i] + (f2 + one);
  Pack rough[9];
  TimesSymmetric(n, s, rough);
  const Pack inverse = one / Max(den, Pack::Set(1e-6f)), f_twice = f + f;
  for (int i = 0; i < 9; ++i) rough[i] = MulAdd(f_twice, cofactor[i], rough[i]) * inverse;

  Gram(rough, s);  // Newton-Schulz: R (3 I - R^T R) / 2
  const Pack half = Pack::Set(-0.5f);
  for (int i = 0; i < 6; ++i) s[i] = half * s[i];
  for (const int i : {0, 3, 5}) s[i] = s[i] + Pack::Set(1.5f);
  TimesSymmetric(rough, s, r);
  return den;
}

}  // namespace sinew::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
