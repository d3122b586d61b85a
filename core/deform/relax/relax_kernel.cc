#include "core/deform/relax/relax_kernel.h"

#include <algorithm>
#include <limits>

#include "core/simd/levels.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/deform/relax/relax_kernel.cc"
#include <hwy/foreach_target.h>

#include "core/simd/rows-inl.h"

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
                 const float* outside, float strength, const float* points, const float* from,
                 std::size_t first, float* out) {
  alignas(64) float edges[kMostSteps + 1][3][16];  // to the neighbours
  steps = std::min(steps, kMostSteps);
  const PackPoint at = LoadRows(points, [&](std::size_t i) HWY_ATTR { return first + i; });
  const Pack zero = Pack::Zero(), one = Pack::Set(1.0f);
  PackPoint shift = {zero, zero, zero}, area = {zero, zero, zero}, before = {zero, zero, zero};
  Pack size = zero;  // sum of the squared edges
  // The face between the edge before and e.
  const auto add_face = [&](const PackPoint& e) HWY_ATTR {
    size = MulAdd(e.x, e.x, MulAdd(e.y, e.y, MulAdd(e.z, e.z, size)));
    area.x = NegMulAdd(before.z, e.y, MulAdd(before.y, e.z, area.x));
    area.y = NegMulAdd(before.x, e.z, MulAdd(before.z, e.x, area.y));
    area.z = NegMulAdd(before.y, e.x, MulAdd(before.x, e.y, area.z));
  };
  for (std::size_t s = 0; s < steps; ++s) {
    const std::uint32_t* of = ring + s * 16;
    const PackPoint q =
        LoadRows(points, [&](std::size_t i) HWY_ATTR { return std::size_t{of[i]}; });
    const PackPoint e = {q.x - at.x, q.y - at.y, q.z - at.z};
    StorePoint(e, edges[s][0]);
    const Pack w = Pack::Load(weights + s * 16);
    shift = {MulAdd(w, e.x, shift.x), MulAdd(w, e.y, shift.y), MulAdd(w, e.z, shift.z)};
    if (s > 0) add_face(e);
    before = e;
  }
  std::size_t edge_count = steps;
  if (steps > 0 && !closed) {
    const PackPoint e = LoadPoint(edges[0][0]);
    StorePoint(e, edges[edge_count++][0]);
    add_face(e);
  }
  const auto edge = [&](std::size_t s) HWY_ATTR { return LoadPoint(edges[s][0]); };
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
      for (std::size_t s = 1; s < edge_count; ++s) {
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
  PackPoint to = {moved(at.x, shift.x, n.x), moved(at.y, shift.y, n.y), moved(at.z, shift.z, n.z)};
  if (from != nullptr) {
    const PackPoint was = LoadRows(from, [&](std::size_t i) HWY_ATTR { return first + i; });
    to = {to.x - was.x, to.y - was.y, to.z - was.z};
  }
  StoreRows(to, out + first * 4);
}

void Slide(const std::uint32_t* lane_point, std::size_t blocks, const float* slid, const float* in,
           float* out) {
  const Pack zero = Pack::Zero(), most = Pack::Set(std::numeric_limits<float>::max());
  const auto moved = [&](const Pack& x, const Pack& by) HWY_ATTR {
    const Pack length = IfThenElse(Le(Abs(by), most), Abs(by), zero);
    return IfThenElse(Gt(length, zero), x + by, x);
  };
  for (std::size_t b = 0; b < blocks; ++b) {
    const std::uint32_t* of = lane_point + b * 16;
    const PackPoint by = LoadRows(slid, [&](std::size_t i) HWY_ATTR { return std::size_t{of[i]}; });
    const PackPoint at = LoadPoint(in + b * 48);
    StorePoint({moved(at.x, by.x), moved(at.y, by.y), moved(at.z, by.z)}, out + b * 48);
  }
}

}  // namespace sinew::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
SINEW_KERNEL(void, RelaxKernel,
             (const std::uint32_t* ring, const float* weights, std::size_t steps, bool closed,
              const float* outside, float strength, const float* points, const float* from,
              std::size_t first, float* out),
             RelaxPoints,
             (ring, weights, steps, closed, outside, strength, points, from, first, out))
SINEW_KERNEL(void, SlideKernel,
             (const std::uint32_t* lane_point, std::size_t blocks, const float* slid,
              const float* in, float* out),
             Slide, (lane_point, blocks, slid, in, out))
#endif
