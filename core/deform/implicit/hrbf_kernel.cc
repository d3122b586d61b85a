#include "core/deform/implicit/hrbf_kernel.h"

#include <bit>
#include <limits>

#include "core/simd/levels.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/deform/implicit/hrbf_kernel.cc"
#include <hwy/foreach_target.h>

#include "core/simd/pack-inl.h"
#include "core/simd/quaternion-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sinew::HWY_NAMESPACE {

// Zero in lanes outside [least, largest].
HWY_INLINE Pack Within(const PackPoint& p, const float* least, Pack inside) {
  const Pack zero = Pack::Zero();
  inside = IfThenElse(Le(Pack::Set(least[0]), p.x), inside, zero);
  inside = IfThenElse(Le(Pack::Set(least[1]), p.y), inside, zero);
  inside = IfThenElse(Le(Pack::Set(least[2]), p.z), inside, zero);
  inside = IfThenElse(Le(p.x, Pack::Set(least[3])), inside, zero);
  inside = IfThenElse(Le(p.y, Pack::Set(least[4])), inside, zero);
  return IfThenElse(Le(p.z, Pack::Set(least[5])), inside, zero);
}

struct Placed {
  PackPoint u;  // 0 in lanes outside
  PackMask inside;
};

// Overflow compares false, so such points count as outside.
HWY_INLINE Placed Place(const float* placed, const float* points) {
  const PackPoint x = LoadPoint(points);
  const PackPoint d = {x.x - Pack::Set(placed[9]), x.y - Pack::Set(placed[10]),
                       x.z - Pack::Set(placed[11])};
  const auto row = [&](std::size_t r) HWY_ATTR {
    const float* m = placed + r * 3;
    return MulAdd(
        Pack::Set(m[0]), d.x,
        MulAdd(Pack::Set(m[1]), d.y, MulAdd(Pack::Set(m[2]), d.z, Pack::Set(placed[12 + r]))));
  };
  const PackPoint u = {row(0), row(1), row(2)};
  const Pack zero = Pack::Zero();
  const Pack inside = Within(x, placed + 22, Within(u, placed + 16, Pack::Set(1.0f)));
  const PackMask mask = Gt(inside, zero);
  return {{IfThenElse(mask, u.x, zero), IfThenElse(mask, u.y, zero), IfThenElse(mask, u.z, zero)},
          mask};
}

// lower limit of a centre's l^2, whose terms vanish at 0
inline constexpr float kNear = 1e-36f;

struct RawField {
  Pack f;
  PackPoint g;
};

// The polynomial part of all terms.
HWY_INLINE RawField Polynomial(const float* p, const PackPoint& u) {
  const auto dot = [](const Pack& x, const Pack& y, const Pack& z, const PackPoint& by)
                       HWY_ATTR { return MulAdd(x, by.x, MulAdd(y, by.y, z * by.z)); };
  const Pack bx = Pack::Set(p[1]), by = Pack::Set(p[2]), bz = Pack::Set(p[3]);
  const Pack yz = Pack::Set(p[7]), zx = Pack::Set(p[8]), xy = Pack::Set(p[9]);
  const Pack square = dot(u.x, u.y, u.z, u);
  const Pack inner = MulAdd(Pack::Set(p[0]), square, dot(bx, by, bz, u));
  const PackPoint mu = {dot(Pack::Set(p[4]), xy, zx, u), dot(xy, Pack::Set(p[5]), yz, u),
                        dot(zx, yz, Pack::Set(p[6]), u)};
  const PackPoint h = {mu.x + Pack::Set(p[10]), mu.y + Pack::Set(p[11]), mu.z + Pack::Set(p[12])};
  const Pack slope = MulAdd(Pack::Set(p[0]), square, inner);
  const Pack twice = slope + slope;
  return {MulAdd(square, inner, dot(h.x, h.y, h.z, u) + Pack::Set(p[13])),
          {MulAdd(twice, u.x, MulAdd(square, bx, mu.x + h.x)),
           MulAdd(twice, u.y, MulAdd(square, by, mu.y + h.y)),
           MulAdd(twice, u.z, MulAdd(square, bz, mu.z + h.z))}};
}

HWY_INLINE RawField Sums(const HrbfPart& part, const PackPoint& u) {
  auto [f, g] = Polynomial(part.polynomial, u);
  const Pack r = Pack::Set(part.polynomial[14]), r2 = Pack::Set(-2 * part.polynomial[14]);
  // One division for two centres is faster on AVX-512 (22 vs. 25 ns) but slower on AVX2 (39 vs.
  // 31).
  for (std::size_t k = 0; k < part.count; ++k) {
    const float* c = part.centres + k * 8;
    const PackPoint d = {u.x - Pack::Set(c[0]), u.y - Pack::Set(c[1]), u.z - Pack::Set(c[2])};
    const Pack s = MulAdd(d.x, d.x, MulAdd(d.y, d.y, MulAdd(d.z, d.z, Pack::Set(kNear))));
    const Pack l = Sqrt(s), v = l - r;
    const Pack bx = Pack::Set(c[4]), by = Pack::Set(c[5]), bz = Pack::Set(c[6]);
    const Pack q = MulAdd(bx, d.x, MulAdd(by, d.y, bz * d.z));
    const Pack av = Pack::Set(c[3]) * v;
    f = MulAdd(v, MulAdd(av, s, q), f);
    const Pack w = MulAdd(av, MulAdd(Pack::Set(4), l, r2), q / l);
    g.x = MulAdd(w, d.x, MulAdd(v, bx, g.x));
    g.y = MulAdd(w, d.y, MulAdd(v, by, g.y));
    g.z = MulAdd(w, d.z, MulAdd(v, bz, g.z));
  }
  return {f, g};
}

void RawHrbf(const HrbfPart& part, const float* points, float* out) {
  const RawField raw = Sums(part, LoadPoint(points));
  raw.f.Store(out);
  raw.g.x.Store(out + 16);
  raw.g.y.Store(out + 32);
  raw.g.z.Store(out + 48);
}

bool LeastLanes(const HrbfPart& part, const float* points, float* least) {
  const Placed at = Place(part.placed, points);
  const Pack one = Pack::Set(1.0f);
  one.Store(least);
  const std::uint32_t inside = MaskBits(at.inside);
  if (inside == 0) return false;
  const auto cells = [&](const Pack& u, std::size_t axis) HWY_ATTR {
    return (u - Pack::Set(part.placed[16 + axis])) * Pack::Set(part.placed[28 + axis]);
  };
  // Rounds c - 1/2 to a whole number; at the border of two cells either is correct.
  const auto number = [&](const Pack& c) HWY_ATTR {
    const Pack whole = Pack::Set(1 << 23), last = Pack::Set(static_cast<float>(kGridSide - 1));
    return (Max(Min(c - Pack::Set(0.5f), last), Pack::Zero()) + whole) - whole;
  };
  const Pack cx = cells(at.u.x, 0), cy = cells(at.u.y, 1), cz = cells(at.u.z, 2);
  const Pack x = number(cx), y = number(cy), z = number(cz);
  const Pack side = Pack::Set(static_cast<float>(kGridSide));
  alignas(64) float cell[16];
  alignas(64) std::uint32_t words[16] = {};
  MulAdd(MulAdd(z, side, y), side, x).Store(cell);
  for (std::uint32_t left = inside; left != 0; left &= left - 1) {
    const auto i = static_cast<std::size_t>(std::countr_zero(left));
    words[i] = part.cells[static_cast<std::uint32_t>(cell[i])];
  }
  const auto rise = [&](const Pack& slope, const Pack& c, const Pack& cell_number) HWY_ATTR {
    return (slope - Pack::Set(128)) * ((c - cell_number) - Pack::Set(0.5f));
  };
  const Pack rises =
      rise(Pack::LoadByte<1>(words), cx, x) +
      (rise(Pack::LoadByte<2>(words), cy, y) + rise(Pack::LoadByte<3>(words), cz, z));
  const Pack value = Pack::LoadByte<0>(words);
  const Pack bound =
      MulAdd(rises, Pack::Set(1 / kCellSlopeSteps),
             MulAdd(value, Pack::Set(-1 / kCellValueSteps), Pack::Set(kMostCellValue)));
  const Pack known = IfThenElse(Lt(value, Pack::Set(255)), Min(bound, one),
                                Pack::Set(std::numeric_limits<float>::lowest()));
  const Pack bounds = IfThenElse(Gt(value, Pack::Zero()), known, one);
  bounds.Store(least);
  return MaskBits(Lt(bounds, one)) != 0;
}

void DistanceBlock(const HrbfPart& part, const float* points, const float* least, float* out) {
  const Pack one = Pack::Set(1.0f), bound = Pack::Load(least);
  const PackMask within = Lt(bound, one);
  if (MaskBits(within) == 0) {
    one.Store(out);
    for (std::size_t i = 1; i < 4; ++i) Pack::Zero().Store(out + i * 16);
    return;
  }
  const auto [f, g] = Sums(part, Place(part.placed, points).u);
  const Pack x = IfThenElse(within, Min(Max(f, bound), one), one);
  x.Store(out);
  const Pack slope = IfThenElse(Lt(x, one), one, Pack::Zero());
  const float* m = part.placed;
  const auto column = [&](std::size_t i, const PackPoint& of) HWY_ATTR {
    return slope * MulAdd(Pack::Set(m[i]), of.x,
                          MulAdd(Pack::Set(m[3 + i]), of.y, Pack::Set(m[6 + i]) * of.z));
  };
  column(0, g).Store(out + 16);
  column(1, g).Store(out + 32);
  column(2, g).Store(out + 48);
}

void CullParts(const float* bounds, std::size_t packs, const float* box, std::uint32_t* hits) {
  for (std::size_t k = 0; k < packs; ++k) {
    const float* b = bounds + k * 96;
    const Pack zero = Pack::Zero();
    Pack meet = Pack::Set(1.0f);
    for (std::size_t i = 0; i < 3; ++i) {
      meet = IfThenElse(Le(Pack::Load(b + i * 16), Pack::Set(box[3 + i])), meet, zero);
      meet = IfThenElse(Le(Pack::Set(box[i]), Pack::Load(b + 48 + i * 16)), meet, zero);
    }
    hits[k] = MaskBits(Gt(meet, zero));
  }
}

}  // namespace sinew::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
SINEW_KERNEL(bool, LeastKernel, (const HrbfPart& part, const float* points, float* least),
             LeastLanes, (part, points, least))
SINEW_KERNEL(void, DistanceKernel,
             (const HrbfPart& part, const float* points, const float* least, float* out),
             DistanceBlock, (part, points, least, out))
SINEW_KERNEL(void, RawHrbfKernel, (const HrbfPart& part, const float* points, float* out), RawHrbf,
             (part, points, out))
SINEW_KERNEL(void, CullKernel,
             (const float* bounds, std::size_t packs, const float* box, std::uint32_t* hits),
             CullParts, (bounds, packs, box, hits))
#endif
