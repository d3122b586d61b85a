// point-inl.h - 16 points at a time, and affine transforms of them.
//
// Points are stored in blocks of 16 x, 16 y and 16 z (core/base/point_block.h). Matrices are
// row-major with the translation at the end of each row, like Affine. Sums are nested
// multiply-adds, innermost last; reordering them changes the last bit of frames.
#if defined(SINEW_CORE_SIMD_POINT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SINEW_CORE_SIMD_POINT_INL_H_
#undef SINEW_CORE_SIMD_POINT_INL_H_
#else
#define SINEW_CORE_SIMD_POINT_INL_H_
#endif

#include "core/simd/pack-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sinew::HWY_NAMESPACE {

// A point, a direction, or any three numbers per lane.
struct PackPoint {
  Pack x, y, z;
};

// x[16] y[16] z[16], 64-byte aligned.
HWY_INLINE PackPoint LoadPoint(const float* p) {
  return {Pack::Load(p), Pack::Load(p + 16), Pack::Load(p + 32)};
}

HWY_INLINE void StorePoint(const PackPoint& point, float* p) {
  point.x.Store(p);
  point.y.Store(p + 16);
  point.z.Store(p + 32);
}

HWY_INLINE Pack DotOf(const PackPoint& a, const PackPoint& b) {
  return MulAdd(a.x, b.x, MulAdd(a.y, b.y, a.z * b.z));
}

HWY_INLINE PackPoint CrossOf(const PackPoint& a, const PackPoint& b) {
  return {NegMulAdd(a.z, b.y, a.y * b.z), NegMulAdd(a.x, b.z, a.z * b.x),
          NegMulAdd(a.y, b.x, a.x * b.y)};
}

HWY_INLINE PackPoint Plus(const PackPoint& a, const PackPoint& b) {
  return {a.x + b.x, a.y + b.y, a.z + b.z};
}

HWY_INLINE PackPoint Minus(const PackPoint& a, const PackPoint& b) {
  return {a.x - b.x, a.y - b.y, a.z - b.z};
}

HWY_INLINE PackPoint Scaled(const Pack& s, const PackPoint& a) {
  return {s * a.x, s * a.y, s * a.z};
}

// sum + s a.
HWY_INLINE PackPoint AddScaled(const Pack& s, const PackPoint& a, const PackPoint& sum) {
  return {MulAdd(s, a.x, sum.x), MulAdd(s, a.y, sum.y), MulAdd(s, a.z, sum.z)};
}

// sum + a x b.
HWY_INLINE PackPoint AddCross(const PackPoint& a, const PackPoint& b, const PackPoint& sum) {
  return {NegMulAdd(a.z, b.y, MulAdd(a.y, b.z, sum.x)),
          NegMulAdd(a.x, b.z, MulAdd(a.z, b.x, sum.y)),
          NegMulAdd(a.y, b.x, MulAdd(a.x, b.y, sum.z))};
}

// Per lane: mask ? a : b.
HWY_INLINE PackPoint Chosen(const PackMask& mask, const PackPoint& a, const PackPoint& b) {
  return {IfThenElse(mask, a.x, b.x), IfThenElse(mask, a.y, b.y), IfThenElse(mask, a.z, b.z)};
}

// r . p: one row of a rotated direction.
HWY_INLINE Pack RowTimes(const float* r, const PackPoint& p) {
  return MulAdd(Pack::Set(r[0]), p.x, MulAdd(Pack::Set(r[1]), p.y, Pack::Set(r[2]) * p.z));
}

// r . p + c: one row of a transformed point.
HWY_INLINE Pack RowTimes(const float* r, const PackPoint& p, float c) {
  return MulAdd(Pack::Set(r[0]), p.x,
                MulAdd(Pack::Set(r[1]), p.y, MulAdd(Pack::Set(r[2]), p.z, Pack::Set(c))));
}

// sum + r (p, w): one row of a homogeneous point.
HWY_INLINE Pack AddRow(const float* r, const PackPoint& p, const Pack& w, const Pack& sum) {
  return MulAdd(
      Pack::Set(r[0]), p.x,
      MulAdd(Pack::Set(r[1]), p.y, MulAdd(Pack::Set(r[2]), p.z, MulAdd(Pack::Set(r[3]), w, sum))));
}

// m p, m row-major 3x4.
HWY_INLINE PackPoint Transform(const float* m, const PackPoint& p) {
  return {RowTimes(m, p, m[3]), RowTimes(m + 4, p, m[7]), RowTimes(m + 8, p, m[11])};
}

// sum + m p, m row-major 3x3 per lane.
HWY_INLINE PackPoint AddTurned(const Pack* m, const PackPoint& p, const PackPoint& sum) {
  const auto row = [&](const Pack* r, const Pack& c) HWY_ATTR {
    return MulAdd(r[0], p.x, MulAdd(r[1], p.y, MulAdd(r[2], p.z, c)));
  };
  return {row(m, sum.x), row(m + 3, sum.y), row(m + 6, sum.z)};
}

// sum += w * (m p), m row-major 3x4; w of any sign.
HWY_INLINE void AddMoved(const Pack& w, const float* m, const PackPoint& p, PackPoint& sum) {
  sum = AddScaled(w, Transform(m, p), sum);
}

}  // namespace sinew::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
