// jet-inl.h - packs that carry their derivatives along two directions: forward-mode automatic
// differentiation of a kernel that is written once over its number type.
//
// The value of every operation has the bits of the same operation on packs. Where Min, Max and
// IfThenElse choose, the derivative is that of the choice.
#if defined(SINEW_CORE_SIMD_JET_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SINEW_CORE_SIMD_JET_INL_H_
#undef SINEW_CORE_SIMD_JET_INL_H_
#else
#define SINEW_CORE_SIMD_JET_INL_H_
#endif

#include "core/simd/pack-inl.h"
#include "core/simd/point-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sinew::HWY_NAMESPACE {

struct Jet {
  Pack value, first, second;

  // A constant.
  static HWY_INLINE Jet Of(const Pack& value) { return {value, Pack::Zero(), Pack::Zero()}; }
  static HWY_INLINE Jet Zero() { return Of(Pack::Zero()); }
};

HWY_INLINE Jet operator+(const Jet& a, const Jet& b) {
  return {a.value + b.value, a.first + b.first, a.second + b.second};
}
HWY_INLINE Jet operator-(const Jet& a, const Jet& b) {
  return {a.value - b.value, a.first - b.first, a.second - b.second};
}
HWY_INLINE Jet operator-(const Jet& a, const Pack& b) {
  return {a.value - b, a.first, a.second};
}
HWY_INLINE Jet operator*(const Pack& a, const Jet& b) {
  return {a * b.value, a * b.first, a * b.second};
}
HWY_INLINE Jet operator*(const Jet& a, const Pack& b) {
  return b * a;
}
HWY_INLINE Jet operator*(const Jet& a, const Jet& b) {
  return {a.value * b.value, MulAdd(a.value, b.first, a.first * b.value),
          MulAdd(a.value, b.second, a.second * b.value)};
}
HWY_INLINE Jet operator/(const Jet& a, const Jet& b) {
  const Pack quotient = a.value / b.value, inverse = Pack::Set(1.0f) / b.value;
  return {quotient, inverse * NegMulAdd(quotient, b.first, a.first),
          inverse * NegMulAdd(quotient, b.second, a.second)};
}
HWY_INLINE Jet operator/(const Pack& a, const Jet& b) {
  const Pack quotient = a / b.value, slope = Pack::Zero() - quotient / b.value;
  return {quotient, slope * b.first, slope * b.second};
}
HWY_INLINE Jet MulAdd(const Jet& a, const Jet& b, const Jet& c) {
  return {MulAdd(a.value, b.value, c.value),
          MulAdd(a.value, b.first, MulAdd(a.first, b.value, c.first)),
          MulAdd(a.value, b.second, MulAdd(a.second, b.value, c.second))};
}
HWY_INLINE Jet MulAdd(const Pack& a, const Jet& b, const Jet& c) {
  return {MulAdd(a, b.value, c.value), MulAdd(a, b.first, c.first), MulAdd(a, b.second, c.second)};
}
HWY_INLINE Jet MulAdd(const Jet& a, const Pack& b, const Jet& c) {
  return MulAdd(b, a, c);
}
HWY_INLINE Jet MulAdd(const Pack& a, const Jet& b, const Pack& c) {
  return {MulAdd(a, b.value, c), a * b.first, a * b.second};
}
HWY_INLINE Jet NegMulAdd(const Jet& a, const Jet& b, const Jet& c) {
  return {NegMulAdd(a.value, b.value, c.value),
          NegMulAdd(a.value, b.first, NegMulAdd(a.first, b.value, c.first)),
          NegMulAdd(a.value, b.second, NegMulAdd(a.second, b.value, c.second))};
}
HWY_INLINE Jet NegMulAdd(const Pack& a, const Jet& b, const Jet& c) {
  return {NegMulAdd(a, b.value, c.value), NegMulAdd(a, b.first, c.first),
          NegMulAdd(a, b.second, c.second)};
}
HWY_INLINE Jet NegMulAdd(const Jet& a, const Pack& b, const Jet& c) {
  return NegMulAdd(b, a, c);
}
HWY_INLINE Jet NegMulAdd(const Pack& a, const Jet& b, const Pack& c) {
  return NegMulAdd(a, b, Jet::Of(c));
}
// The derivative at 0 is that of a distance at its minimum: 0.
HWY_INLINE Jet Sqrt(const Jet& a) {
  const Pack root = Sqrt(a.value);
  const Pack slope = Pack::Set(0.5f) / Max(root, Pack::Set(1e-30f));
  return {root, slope * a.first, slope * a.second};
}
HWY_INLINE Jet IfThenElse(const PackMask& mask, const Jet& a, const Jet& b) {
  return {IfThenElse(mask, a.value, b.value), IfThenElse(mask, a.first, b.first),
          IfThenElse(mask, a.second, b.second)};
}
HWY_INLINE Jet Min(const Jet& a, const Pack& b) {
  return IfThenElse(Lt(a.value, b), a, Jet::Of(b));
}
HWY_INLINE Jet Max(const Jet& a, const Pack& b) {
  return IfThenElse(Gt(a.value, b), a, Jet::Of(b));
}
HWY_INLINE Jet operator-(const Pack& a, const Jet& b) {
  return Jet::Of(a) - b;
}
HWY_INLINE Jet Larger(const Jet& a, const Jet& b) {
  return IfThenElse(Gt(a.value, b.value), a, b);
}
HWY_INLINE Pack Larger(const Pack& a, const Pack& b) {
  return Max(a, b);
}
HWY_INLINE Pack ValueOf(const Jet& a) {
  return a.value;
}
HWY_INLINE Pack ValueOf(const Pack& a) {
  return a;
}

using JetPoint = PointOf<Jet>;

HWY_INLINE PackPoint ValueOf(const JetPoint& p) {
  return {p.x.value, p.y.value, p.z.value};
}

// A number [16] and its derivatives [2][16], 64-byte aligned.
HWY_INLINE Jet LoadJet(const float* value, const float* slopes) {
  return {Pack::Load(value), Pack::Load(slopes), Pack::Load(slopes + 16)};
}
// A point [3][16] and its derivatives [2][3][16].
HWY_INLINE JetPoint LoadJetPoint(const float* point, const float* slopes) {
  const PackPoint p = LoadPoint(point), a = LoadPoint(slopes), b = LoadPoint(slopes + 48);
  return {{p.x, a.x, b.x}, {p.y, a.y, b.y}, {p.z, a.z, b.z}};
}
HWY_INLINE void StoreJetPoint(const JetPoint& p, float* point, float* slopes) {
  StorePoint({p.x.value, p.y.value, p.z.value}, point);
  StorePoint({p.x.first, p.y.first, p.z.first}, slopes);
  StorePoint({p.x.second, p.y.second, p.z.second}, slopes + 48);
}

// sum_j w_j M_j u as jets: the matrices are blended once for both derivatives of u.
struct BlendedMotion {
  JetPoint sum;    // without the derivatives of u
  Pack linear[9];  // sum w_j A_j

  static HWY_INLINE BlendedMotion Zero() {
    BlendedMotion motion = {{Jet::Zero(), Jet::Zero(), Jet::Zero()}, {}};
    for (Pack& number : motion.linear) number = Pack::Zero();
    return motion;
  }
  // m row-major 3x4.
  HWY_INLINE void Add(const Jet& w, const float* m, const PackPoint& u) {
    const PackPoint p = Transform(m, u);
    sum = {MulAdd(w, p.x, sum.x), MulAdd(w, p.y, sum.y), MulAdd(w, p.z, sum.z)};
    for (int i = 0; i < 9; ++i) {
      linear[i] = MulAdd(w.value, Pack::Set(m[i / 3 * 4 + i % 3]), linear[i]);
    }
  }
  // The sum, for a point u with these derivatives.
  HWY_INLINE JetPoint Sum(const PackPoint& first, const PackPoint& second) const {
    const PackPoint a = AddTurned(linear, first, {sum.x.first, sum.y.first, sum.z.first});
    const PackPoint b = AddTurned(linear, second, {sum.x.second, sum.y.second, sum.z.second});
    return {{sum.x.value, a.x, b.x}, {sum.y.value, a.y, b.y}, {sum.z.value, a.z, b.z}};
  }
};

}  // namespace sinew::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
