#include "core/deform/relax/relax_kernel.h"

#include <algorithm>

#include "core/simd/levels.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/deform/relax/relax_kernel.cc"
#include <hwy/foreach_target.h>

#include "core/simd/pack-inl.h"
#include "core/simd/quaternion-inl.h"
#include "core/simd/vec4.h"

HWY_BEFORE_NAMESPACE();
namespace sinew::HWY_NAMESPACE {

// A point whose area vectors sum to less than this part of the squared lengths of its edges is
// between folded faces and has no surface to slide on. Sliding fades out towards that limit.
inline constexpr float kNoSurface = 0.005f;
// Squared shift relative to those lengths: shorter shifts are rounding (rigid limbs) and do not
// lower the point.
inline constexpr float kStill = 1e-10f;
// Squared cosine of a face to the normal up to which the height of the shift over it fades.
inline constexpr float kSteep = 0.1f;
inline constexpr std::size_t kKeptEdges = 12;  // edges that are not loaded again

HWY_INLINE Pack DotOf(const PackPoint& a, const PackPoint& b) {
  return MulAdd(a.x, b.x, MulAdd(a.y, b.y, a.z * b.z));
}
HWY_INLINE PackPoint CrossOf(const PackPoint& a, const PackPoint& b) {
  return {NegMulAdd(a.z, b.y, a.y * b.z), NegMulAdd(a.x, b.z, a.z * b.x),
          NegMulAdd(a.y, b.x, a.x * b.y)};
}

// Points number(0) ... number(15).
template <class Number>
HWY_INLINE PackPoint Gather(const float* points, Number number) {
  alignas(64) float rows[3][16];
  for (std::size_t i = 0; i < 16; i += 4) {
    const Vec4 four[4] = {Load4(points, number(i)), Load4(points, number(i + 1)),
                          Load4(points, number(i + 2)), Load4(points, number(i + 3))};
    StoreColumns(four, rows, i, 3);
  }
  return {Pack::Load(rows[0]), Pack::Load(rows[1]), Pack::Load(rows[2])};
}

void RelaxPoints(const std::uint32_t* ring, const float* weights, std::size_t steps,
                 const float* outside, float strength, const float* points, std::size_t first,
                 float* out) {
  const PackPoint at = Gather(points, [&](std::size_t i) HWY_ATTR { return first + i; });
  const Pack zero = Pack::Zero(), one = Pack::Set(1.0f);
  alignas(64) float kept[kKeptEdges][3][16];
  const auto edge = [&](std::size_t s) HWY_ATTR {
    const std::uint32_t* of = ring + s * 16;
    const PackPoint q = Gather(points, [&](std::size_t i) HWY_ATTR { return std::size_t{of[i]}; });
    return PackPoint{q.x - at.x, q.y - at.y, q.z - at.z};
  };
  PackPoint shift = {zero, zero, zero}, area = {zero, zero, zero}, before = {zero, zero, zero};
  Pack size = zero;
  for (std::size_t s = 0; s < steps; ++s) {
    const PackPoint e = edge(s);
    if (s < kKeptEdges) {
      e.x.Store(kept[s][0]);
      e.y.Store(kept[s][1]);
      e.z.Store(kept[s][2]);
    }
    const Pack w = Pack::Load(weights + s * 16);
    shift = {MulAdd(w, e.x, shift.x), MulAdd(w, e.y, shift.y), MulAdd(w, e.z, shift.z)};
    size = size + IfThenElse(Gt(w, zero), DotOf(e, e), zero);
    if (s > 0) {
      const PackPoint a = CrossOf(before, e);
      area = {area.x + a.x, area.y + a.y, area.z + a.z};
    }
    before = e;
  }
  // Areas relative to the size neither overflow nor vanish when they are squared.
  const Pack scale = one / size;
  const PackPoint relative = {area.x * scale, area.y * scale, area.z * scale};
  const Pack length = Sqrt(DotOf(relative, relative));
  const Pack open = length / Pack::Set(kNoSurface) - one;
  const PackMask slides = Gt(open, zero);  // not if it is NaN
  const auto if_slides = [&](const Pack& v) HWY_ATTR { return IfThenElse(slides, v, zero); };
  const PackPoint n = {if_slides(relative.x / length), if_slides(relative.y / length),
                       if_slides(relative.z / length)};
  const Pack share = Min(open, one) * Pack::Set(strength), along = DotOf(shift, n);
  shift = {if_slides(NegMulAdd(along, n.x, shift.x) * share),
           if_slides(NegMulAdd(along, n.y, shift.y) * share),
           if_slides(NegMulAdd(along, n.z, shift.z) * share)};
  const Pack squared = DotOf(shift, shift);
  const PackMask moves = Gt(squared, size * Pack::Set(kStill));
  Pack lower = zero;
  if (MaskBits(moves) != 0) {
    // The flattest face below the shift: its height over its area.
    const Pack side = Pack::Load(outside);
    const PackPoint m = CrossOf(n, PackPoint{shift.x * scale, shift.y * scale, shift.z * scale});
    const auto again = [&](std::size_t s) HWY_ATTR {
      if (s >= kKeptEdges) return edge(s);
      return PackPoint{Pack::Load(kept[s][0]), Pack::Load(kept[s][1]), Pack::Load(kept[s][2])};
    };
    Pack height = zero, over = one, flattest = zero;
    PackPoint a = again(0);
    Pack by_b = zero - DotOf(a, m), rise_a = DotOf(a, n);
    for (std::size_t s = 1; s < steps; ++s) {
      const PackPoint b = again(s);
      // Twice the projected areas of the face and of its parts beside the shift, over the size.
      const PackPoint cross = CrossOf(a, b);
      const PackPoint normal = {cross.x * scale, cross.y * scale, cross.z * scale};
      const Pack by_a = DotOf(b, m), rise_b = DotOf(b, n), face = DotOf(normal, n);
      const Pack flat = face * face / DotOf(normal, normal);  // squared cosine
      const PackMask found =
          Gt(IfThenElse(Gt(face, zero),
                        IfThenElse(Le(zero, by_a), IfThenElse(Le(zero, by_b), flat, zero), zero),
                        zero),
             flattest);
      height = IfThenElse(found, MulAdd(by_a, rise_a, by_b * rise_b), height);
      over = IfThenElse(found, face, over);
      flattest = IfThenElse(found, flat, flattest);
      a = b;
      by_b = zero - by_a;
      rise_a = rise_b;
    }
    // Steep faces, whose height is not defined in the end, lower less.
    const Pack fade = Min(flattest * Pack::Set(1 / kSteep), one);
    const Pack lowest = zero - Sqrt(squared);
    const Pack fall = side * height / over;
    lower = IfThenElse(moves, fade * side * Max(Min(fall, zero), lowest), zero);
  }
  alignas(64) float to[3][16];
  (at.x + MulAdd(lower, n.x, shift.x)).Store(to[0]);
  (at.y + MulAdd(lower, n.y, shift.y)).Store(to[1]);
  (at.z + MulAdd(lower, n.z, shift.z)).Store(to[2]);
  for (std::size_t i = 0; i < 16; ++i) {
    Store4(Vec4{to[0][i], to[1][i], to[2][i], 0}, out, first + i);
  }
}

}  // namespace sinew::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
SINEW_KERNEL(void, RelaxKernel,
             (const std::uint32_t* ring, const float* weights, std::size_t steps,
              const float* outside, float strength, const float* points, std::size_t first,
              float* out),
             RelaxPoints, (ring, weights, steps, outside, strength, points, first, out))
#endif
