#include "core/deform/relax/relax_kernel.h"

#include <algorithm>
#include <limits>

#include "core/simd/levels.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/deform/relax/relax_kernel.cc"
#include <hwy/foreach_target.h>

#include "core/simd/point-inl.h"
#include "core/simd/vec4.h"

HWY_BEFORE_NAMESPACE();
namespace sinew::HWY_NAMESPACE {

// A point whose area vectors sum to less than this part of the squared lengths of its edges is
// between folded faces and has no surface to slide on. Sliding fades out towards that limit.
inline constexpr float kNoSurface = 0.005f;
// Those of a ring sum to less than this; those of damaged tables may not.
inline constexpr float kTooLarge = 2;
// Squared shift relative to those lengths: shorter shifts are rounding (rigid limbs) and do not
// lower the point.
inline constexpr float kStill = 1e-10f;
// Squared cosine of a face to the normal up to which the face lowers the point less.
inline constexpr float kSteep = 0.1f;

// Points number(0) ... number(15).
template <class Number>
HWY_INLINE void Gather(const float* points, Number number, float (*rows)[16]) {
  for (std::size_t i = 0; i < 16; i += 4) {
    const Vec4 four[4] = {Load4(points, number(i)), Load4(points, number(i + 1)),
                          Load4(points, number(i + 2)), Load4(points, number(i + 3))};
    StoreColumns(four, rows, i, 3);
  }
}

// Points first ... first + 15.
HWY_INLINE void Scatter(const float (*rows)[16], float* points, std::size_t first) {
  for (std::size_t i = 0; i < 16; i += 4) {
    const Vec4 columns[4] = {Load4(rows[0] + i, 0), Load4(rows[1] + i, 0), Load4(rows[2] + i, 0),
                             Vec4{}};
    alignas(16) float four[4][16];
    StoreColumns(columns, four, 0, 4);
    for (std::size_t k = 0; k < 4; ++k) Store4(Load4(four[k], 0), points, first + i + k);
  }
}

// A face beside the shift, spanned by edges a and b. Products with m, which lies in the surface
// across the shift, are twice the areas of the parts into which the shift divides it.
struct Beside {
  PackPoint a, b;
  Pack a_by_m, b_by_m;
};

// A face under the shift: its height there times its area, its area, and its squared cosine to the
// normal. The cosine is 0 for a face that points down.
struct Under {
  Pack height, area, flat;
};
HWY_INLINE Under HeightOf(const Beside& face, const PackPoint& n, const Pack& scale) {
  const PackPoint normal = Scaled(scale, CrossOf(face.a, face.b));
  const Pack area = DotOf(normal, n), zero = Pack::Zero();
  const Pack height = MulAdd(face.b_by_m, DotOf(face.a, n), zero - face.a_by_m * DotOf(face.b, n));
  return {height, area, IfThenElse(Gt(area, zero), area * area / DotOf(normal, normal), zero)};
}

void RelaxPoints(const std::uint32_t* ring, const float* weights, std::size_t steps, bool closed,
                 const float* outside, float strength, const float* points, std::size_t first,
                 float* out) {
  // All points before any of them is used: a load right after the stores it covers waits for them.
  alignas(64) float centre[3][16], place[kMostSteps + 1][3][16];
  steps = std::min(steps, kMostSteps);
  Gather(
      points, [&](std::size_t i) HWY_ATTR { return first + i; }, centre);
  for (std::size_t s = 0; s < steps; ++s) {
    const std::uint32_t* of = ring + s * 16;
    Gather(
        points, [&](std::size_t i) HWY_ATTR { return std::size_t{of[i]}; }, place[s]);
  }
  if (!closed) StorePoint(LoadPoint(place[0][0]), place[steps][0]);
  const std::size_t edges = steps + (closed ? 0 : 1);
  const PackPoint at = LoadPoint(centre[0]);
  const Pack zero = Pack::Zero(), one = Pack::Set(1.0f);
  const auto edge = [&](std::size_t s) HWY_ATTR {
    const PackPoint q = LoadPoint(place[s][0]);
    return PackPoint{q.x - at.x, q.y - at.y, q.z - at.z};
  };
  PackPoint shift = {zero, zero, zero}, area = {zero, zero, zero}, before = {zero, zero, zero};
  Pack size = zero;  // sum of the squared edges
  for (std::size_t s = 0; s < edges; ++s) {
    const PackPoint e = edge(s);
    const Pack w = s < steps ? Pack::Load(weights + s * 16) : zero;
    shift = {MulAdd(w, e.x, shift.x), MulAdd(w, e.y, shift.y), MulAdd(w, e.z, shift.z)};
    if (s > 0) {
      size = MulAdd(e.x, e.x, MulAdd(e.y, e.y, MulAdd(e.z, e.z, size)));
      area.x = NegMulAdd(before.z, e.y, MulAdd(before.y, e.z, area.x));
      area.y = NegMulAdd(before.x, e.z, MulAdd(before.z, e.x, area.y));
      area.z = NegMulAdd(before.y, e.x, MulAdd(before.x, e.y, area.z));
    }
    before = e;
  }
  // Areas relative to the size neither overflow nor vanish when they are squared.
  const Pack scale = one / size;
  const PackPoint relative = Scaled(scale, area);
  const Pack length = Sqrt(DotOf(relative, relative));
  const Pack open = MulAdd(length, Pack::Set(1 / kNoSurface), zero - one);
  // Not if it is NaN.
  const PackMask slides = Gt(IfThenElse(Lt(length, Pack::Set(kTooLarge)), open, zero), zero);
  const PackPoint n = Scaled(one / length, relative);
  const Pack share = Min(open, one) * Pack::Set(strength), along = DotOf(shift, n);
  shift = Scaled(share, {NegMulAdd(along, n.x, shift.x), NegMulAdd(along, n.y, shift.y),
                         NegMulAdd(along, n.z, shift.z)});
  const Pack squared = IfThenElse(slides, DotOf(shift, shift), zero);
  const PackMask moves = Gt(squared, size * Pack::Set(kStill));
  Pack lower = zero;
  if (MaskBits(moves) != 0) {
    const PackPoint m = CrossOf(n, Scaled(scale, shift));
    // The shift is above a face if it passes between the face's edges. In folds there are several.
    const auto visit = [&](const auto& found) HWY_ATTR {
      Beside face = {edge(0), edge(0), zero, DotOf(edge(0), m)};
      for (std::size_t s = 1; s < edges; ++s) {
        face.a = face.b;
        face.a_by_m = face.b_by_m;
        face.b = edge(s);
        face.b_by_m = DotOf(face.b, m);
        found(face, Gt(IfThenElse(Le(face.a_by_m, zero), face.b_by_m, zero), zero));
      }
    };
    Beside only = {edge(0), edge(0), zero, zero};
    Pack count = zero;
    visit([&](const Beside& face, const PackMask& found) HWY_ATTR {
      only = {Chosen(found, face.a, only.a), Chosen(found, face.b, only.b),
              IfThenElse(found, face.a_by_m, only.a_by_m),
              IfThenElse(found, face.b_by_m, only.b_by_m)};
      count = count + IfThenElse(found, one, zero);
    });
    Under under = HeightOf(only, n, scale);
    if (MaskBits(Gt(count, one)) != 0) {
      under = {zero, one, zero};
      visit([&](const Beside& face, const PackMask& found) HWY_ATTR {
        const Under next = HeightOf(face, n, scale);
        const PackMask flatter = Gt(IfThenElse(found, next.flat, zero), under.flat);
        under = {IfThenElse(flatter, next.height, under.height),
                 IfThenElse(flatter, next.area, under.area),
                 IfThenElse(flatter, next.flat, under.flat)};
      });
    }
    // A face seen edge-on has no height, so its effect fades out before.
    const Pack fade = Min(under.flat * Pack::Set(1 / kSteep), one), side = Pack::Load(outside);
    const Pack fall = side * under.height / under.area, lowest = zero - Sqrt(squared);
    lower = IfThenElse(moves, fade * side * Max(Min(fall, zero), lowest), zero);
  }
  const auto moved = [&](const Pack& x, const Pack& by, const Pack& normal) HWY_ATTR {
    return x + IfThenElse(slides, MulAdd(lower, normal, by), zero);
  };
  alignas(64) float to[3][16];
  StorePoint({moved(at.x, shift.x, n.x), moved(at.y, shift.y, n.y), moved(at.z, shift.z, n.z)},
             to[0]);
  Scatter(to, out, first);
}

void Slide(const std::uint32_t* lane_point, std::size_t blocks, const float* start,
           const float* moved, const float* in, float* out) {
  const Pack zero = Pack::Zero(), most = Pack::Set(std::numeric_limits<float>::max());
  alignas(64) float shift[3][16];
  for (std::size_t b = 0; b < blocks; ++b) {
    for (std::size_t i = 0; i < 16; i += 4) {
      Vec4 four[4];
      for (std::size_t k = 0; k < 4; ++k) {
        const std::uint32_t p = lane_point[b * 16 + i + k];
        four[k] = Load4(moved, p) - Load4(start, p);
      }
      StoreColumns(four, shift, i, 3);
    }
    for (std::size_t c = 0; c < 3; ++c) {
      const Pack by = Pack::Load(shift[c]), from = Pack::Load(in + b * 48 + c * 16);
      const Pack length = IfThenElse(Le(Abs(by), most), Abs(by), zero);
      IfThenElse(Gt(length, zero), from + by, from).Store(out + b * 48 + c * 16);
    }
  }
}

}  // namespace sinew::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
SINEW_KERNEL(void, RelaxKernel,
             (const std::uint32_t* ring, const float* weights, std::size_t steps, bool closed,
              const float* outside, float strength, const float* points, std::size_t first,
              float* out),
             RelaxPoints, (ring, weights, steps, closed, outside, strength, points, first, out))
SINEW_KERNEL(void, SlideKernel,
             (const std::uint32_t* lane_point, std::size_t blocks, const float* start,
              const float* moved, const float* in, float* out),
             Slide, (lane_point, blocks, start, moved, in, out))
#endif
