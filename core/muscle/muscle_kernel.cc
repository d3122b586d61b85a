#include "core/muscle/muscle_kernel.h"

#include "core/simd/levels.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/muscle/muscle_kernel.cc"
#include <hwy/foreach_target.h>

#include "core/simd/point-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sinew::HWY_NAMESPACE {

HWY_INLINE PackPoint SetPoint(const float* p) {
  return {Pack::Set(p[0]), Pack::Set(p[1]), Pack::Set(p[2])};
}

// f = k0 (k0 - radius) / k1 for p along the axes of an ellipsoid with semi-axes r, inflated by
// `radius`; k0 = |p / r|, k1 = |p / r^2|. Everything is relative to the smallest semi-axis, so that
// no power of a length over- or underflows.
struct Section {
  Pack value;          // f
  PackPoint gradient;  // along the axes
  Pack by_radius;      // derivative with respect to `radius`
};

// inverse: 1 / r; ratio: smallest r / r; least: smallest r.
HWY_INLINE Section MakeSection(const PackPoint& p, const PackPoint& inverse, const PackPoint& ratio,
                               const Pack& least, const Pack& radius) {
  const PackPoint q = {p.x * inverse.x, p.y * inverse.y, p.z * inverse.z};
  const PackPoint h = {q.x * ratio.x, q.y * ratio.y, q.z * ratio.z};
  const Pack k0 = Sqrt(DotOf(q, q)), k1 = Sqrt(DotOf(h, h));
  const Pack near = Pack::Set(1e-6f), far = Pack::Set(1e6f), zero = Pack::Zero();
  const PackMask centre = Lt(k0, near), bounded = Lt(k0, far);
  const Pack safe0 = IfThenElse(centre, Pack::Set(1.0f), k0);
  const Pack safe1 = IfThenElse(centre, Pack::Set(1.0f), k1);
  const Pack excess = k0 - radius;
  const Pack height = k0 * excess / safe1;  // f / least
  const Pack out = (k0 + excess) / (safe0 * safe1);
  const Pack bend = height / (safe1 * safe1);
  const auto along = [&](const Pack& each, const Pack& share) HWY_ATTR {
    const Pack g = NegMulAdd(bend * share, share, out) * each;
    return IfThenElse(bounded, IfThenElse(centre, zero, g), zero);
  };
  Section section;
  const Pack inside = zero - least * radius;
  section.value =
      IfThenElse(bounded, IfThenElse(centre, inside, height * least), Pack::Set(1e6f) * least);
  section.gradient = {along(h.x, ratio.x), along(h.y, ratio.y), along(h.z, ratio.z)};
  section.by_radius =
      IfThenElse(bounded, IfThenElse(centre, zero, zero - k0 / safe1 * least), zero);
  return section;
}

HWY_INLINE void Store(const Pack& value, const PackPoint& gradient, float* out) {
  value.Store(out);
  gradient.x.Store(out + 16);
  gradient.y.Store(out + 32);
  gradient.z.Store(out + 48);
}

void Ellipsoid(const MuscleKernelArgs& args) {
  const float* s = args.shape;
  const PackPoint centre = SetPoint(s);
  const PackPoint d = {Pack::Load(args.in) - centre.x, Pack::Load(args.in + 16) - centre.y,
                       Pack::Load(args.in + 32) - centre.z};
  const PackPoint x = SetPoint(s + 3), y = SetPoint(s + 6), z = SetPoint(s + 9);
  const Section section = MakeSection({DotOf(x, d), DotOf(y, d), DotOf(z, d)}, SetPoint(s + 12),
                                      SetPoint(s + 15), Pack::Set(s[18]), Pack::Set(1.0f));
  const PackPoint& g = section.gradient;
  const auto back = [&](const Pack& a, const Pack& b, const Pack& c)
                        HWY_ATTR { return MulAdd(g.x, a, MulAdd(g.y, b, g.z * c)); };
  Store(section.value - Pack::Set(args.fat),
        {back(x.x, y.x, z.x), back(x.y, y.y, z.y), back(x.z, y.z, z.z)}, args.out);
}

struct Nearest {
  Pack distance2, across, down, beyond;  // offset along width, depth and tangent
  Pack radius, slope, bend;              // profile and its derivatives along the segment
  Pack free;                             // 1 if the nearest point is inside the segment
  PackPoint width, depth, tangent;
};

HWY_INLINE void Visit(const float* s, const PackPoint& p, bool first, Nearest& nearest) {
  const Pack zero = Pack::Zero(), one = Pack::Set(1.0f);
  const PackPoint start = SetPoint(s), tangent = SetPoint(s + 3);
  const PackPoint r = {p.x - start.x, p.y - start.y, p.z - start.z};
  const Pack inverse = Pack::Set(s[6]), length = Pack::Set(s[13]);
  const Pack along = DotOf(r, tangent);
  const Pack raw = along * inverse;
  const Pack t = Max(Min(raw, one), zero);
  const Pack beyond = NegMulAdd(t, length, along);
  const PackPoint width = SetPoint(s + 7), depth = SetPoint(s + 10);
  const Pack across = DotOf(r, width), down = DotOf(r, depth);
  const Pack distance2 = MulAdd(across, across, MulAdd(down, down, beyond * beyond));
  const Pack c0 = Pack::Set(s[14]), c1 = Pack::Set(s[15]), c2 = Pack::Set(s[16]);
  const Pack c3 = Pack::Set(s[17]), two = Pack::Set(2.0f), three = Pack::Set(3.0f);
  const Pack radius = MulAdd(t, MulAdd(t, MulAdd(t, c3, c2), c1), c0);
  const Pack slope = MulAdd(t, MulAdd(t, three * c3, two * c2), c1) * inverse;
  const Pack bend = MulAdd(t, Pack::Set(6.0f) * c3, two * c2) * inverse * inverse;
  const Pack free = IfThenElse(Gt(raw, zero), IfThenElse(Lt(raw, one), one, zero), zero);
  if (first) {
    nearest = {distance2, across, down, beyond, radius, slope, bend, free, width, depth, tangent};
    return;
  }
  const PackMask closer = Lt(distance2, nearest.distance2);
  nearest.distance2 = IfThenElse(closer, distance2, nearest.distance2);
  nearest.across = IfThenElse(closer, across, nearest.across);
  nearest.down = IfThenElse(closer, down, nearest.down);
  nearest.beyond = IfThenElse(closer, beyond, nearest.beyond);
  nearest.radius = IfThenElse(closer, radius, nearest.radius);
  nearest.slope = IfThenElse(closer, slope, nearest.slope);
  nearest.bend = IfThenElse(closer, bend, nearest.bend);
  nearest.free = IfThenElse(closer, free, nearest.free);
  nearest.width = Chosen(closer, width, nearest.width);
  nearest.depth = Chosen(closer, depth, nearest.depth);
  nearest.tangent = Chosen(closer, tangent, nearest.tangent);
}

// f = d / sqrt(1 + slope^2), d the elliptic distance from the section, as MakeSection.
void Cylinder(const MuscleKernelArgs& args) {
  const float* s = args.shape;
  const PackPoint p = {Pack::Load(args.in), Pack::Load(args.in + 16), Pack::Load(args.in + 32)};
  Nearest n;
  for (std::size_t k = 0; k < kMuscleSegments; ++k) {
    Visit(s + kSegmentStart + k * kSegmentFloats, p, k == 0, n);
  }
  const Section section = MakeSection({n.across, n.down, n.beyond}, SetPoint(s), SetPoint(s + 3),
                                      Pack::Set(s[6]), n.radius);
  const Pack area = Pack::Set(s[7]), one = Pack::Set(1.0f);
  const Pack steep2 = MulAdd(area * n.slope, n.slope, one);
  const Pack steep = Sqrt(steep2);
  const PackPoint& g = section.gradient;
  // Along the line both profile and slope vary.
  const Pack turn = section.value * area * n.slope * n.bend / steep2;
  const Pack sliding = n.free * (section.by_radius * n.slope - turn);
  const Pack forward = g.z + sliding;
  const auto back = [&](const Pack& a, const Pack& b, const Pack& c)
                        HWY_ATTR { return MulAdd(g.x, a, MulAdd(g.y, b, forward * c)) / steep; };
  Store(section.value / steep - Pack::Set(args.fat),
        {back(n.width.x, n.depth.x, n.tangent.x), back(n.width.y, n.depth.y, n.tangent.y),
         back(n.width.z, n.depth.z, n.tangent.z)},
        args.out);
}

void Muscle(const MuscleKernelArgs& args) {
  args.ellipsoid ? Ellipsoid(args) : Cylinder(args);
}

}  // namespace sinew::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
SINEW_KERNEL(void, MuscleKernel, (const MuscleKernelArgs& args), Muscle, (args))
#endif
