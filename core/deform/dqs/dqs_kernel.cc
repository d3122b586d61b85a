#include "core/deform/dqs/dqs_kernel.h"

#include "core/simd/levels.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/deform/dqs/dqs_kernel.cc"
#include <hwy/foreach_target.h>

#include "core/simd/pack-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sinew::HWY_NAMESPACE {

struct PackPoint {
  Pack x, y, z;
};

struct PackQuat {
  Pack w, x, y, z;
};

HWY_INLINE PackPoint LoadPoint(const float* p) {
  return {Pack::Load(p), Pack::Load(p + 16), Pack::Load(p + 32)};
}

// +1, or -1 where q lies in the other hemisphere than the pivot's quaternion p.
HWY_INLINE float Sign(const float* p, const float* q) {
  return p[0] * q[0] + p[1] * q[1] + p[2] * q[2] + p[3] * q[3] < 0.0f ? -1.0f : 1.0f;
}

// sum += w * sign * q
HWY_INLINE void Add(const Pack& w, float sign, const float* q, PackQuat& sum) {
  sum.w = MulAdd(w, Pack::Set(sign * q[0]), sum.w);
  sum.x = MulAdd(w, Pack::Set(sign * q[1]), sum.x);
  sum.y = MulAdd(w, Pack::Set(sign * q[2]), sum.y);
  sum.z = MulAdd(w, Pack::Set(sign * q[3]), sum.z);
}

// The dual part of the translation s u: sum += w / 2 * (0, s u) * sign * q.
HWY_INLINE void AddStretch(const Pack& w, float sign, const float* q, const float* s,
                           const PackPoint& u, PackQuat& sum) {
  const Pack half = Pack::Set(0.5f * sign) * w;
  const auto row = [&](const float* r) HWY_ATTR {
    return half * MulAdd(Pack::Set(r[0]), u.x, MulAdd(Pack::Set(r[1]), u.y, Pack::Set(r[2]) * u.z));
  };
  const Pack x = row(s), y = row(s + 3), z = row(s + 6);
  const Pack qw = Pack::Set(q[0]), qx = Pack::Set(q[1]), qy = Pack::Set(q[2]), qz = Pack::Set(q[3]);
  sum.w = NegMulAdd(z, qz, NegMulAdd(y, qy, NegMulAdd(x, qx, sum.w)));
  sum.x = NegMulAdd(z, qy, MulAdd(y, qz, MulAdd(x, qw, sum.x)));
  sum.y = NegMulAdd(x, qz, MulAdd(z, qx, MulAdd(y, qw, sum.y)));
  sum.z = NegMulAdd(y, qx, MulAdd(x, qy, MulAdd(z, qw, sum.z)));
}

// a * b - c * d
HWY_INLINE Pack Difference(const Pack& a, const Pack& b, const Pack& c, const Pack& d) {
  return NegMulAdd(c, d, a * b);
}

// The motion of a dual quaternion that need not be of unit length.
HWY_INLINE PackPoint Move(const PackQuat& r, const PackQuat& e, const PackPoint& v) {
  const Pack length2 = MulAdd(r.w, r.w, MulAdd(r.x, r.x, MulAdd(r.y, r.y, r.z * r.z)));
  const Pack scale = Pack::Set(2.0f) / length2;
  const Pack cx = MulAdd(r.w, v.x, e.x) + Difference(r.y, v.z, r.z, v.y);
  const Pack cy = MulAdd(r.w, v.y, e.y) + Difference(r.z, v.x, r.x, v.z);
  const Pack cz = MulAdd(r.w, v.z, e.z) + Difference(r.x, v.y, r.y, v.x);
  const Pack mx = Difference(r.w, e.x, e.w, r.x) + Difference(r.y, cz, r.z, cy);
  const Pack my = Difference(r.w, e.y, e.w, r.y) + Difference(r.z, cx, r.x, cz);
  const Pack mz = Difference(r.w, e.z, e.w, r.z) + Difference(r.x, cy, r.y, cx);
  return {MulAdd(scale, mx, v.x), MulAdd(scale, my, v.y), MulAdd(scale, mz, v.z)};
}

// Exact at both ends, so that a lane does not depend on what else its block holds.
HWY_INLINE Pack Mix(const Pack& linear, const Pack& dual, const Pack& blend) {
  const Pack mixed = MulAdd(blend, dual - linear, linear);
  return IfThenElse(Lt(blend, Pack::Set(1.0f)), mixed, dual);
}

void DqsBlocks(const DqsKernelArgs& args, std::size_t begin, std::size_t end) {
  for (std::size_t b = begin; b < end; ++b) {
    const PackPoint u = LoadPoint(args.in + b * 48);
    PackQuat real = {Pack::Zero(), Pack::Zero(), Pack::Zero(), Pack::Zero()};
    PackQuat dual = real;
    const float* pivot = args.dual_quats + std::size_t{args.pair_entry[args.pair_offset[b]]} * 8;
    for (std::uint32_t k = args.pair_offset[b]; k < args.pair_offset[b + 1]; ++k) {
      const std::size_t entry = args.pair_entry[k];
      const float* q = args.dual_quats + entry * 8;
      const float* stretch = args.stretch + entry * kStretchFloats;
      const Pack w = Pack::Load(args.weights + std::size_t{k} * 16);
      const float sign = Sign(pivot, q);
      Add(w, sign, q, real);
      Add(w, sign, q + 4, dual);
      if (stretch[9] != 0.0f) AddStretch(w, sign, q, stretch, u, dual);
    }
    PackPoint v = Move(real, dual, u);
    if (args.linear != nullptr) {
      const PackPoint linear = LoadPoint(args.linear + b * 48);
      const Pack blend = args.blend_lanes != nullptr ? Pack::Load(args.blend_lanes + b * 16)
                                                     : Pack::Set(args.blend);
      v = {Mix(linear.x, v.x, blend), Mix(linear.y, v.y, blend), Mix(linear.z, v.z, blend)};
    }
    float* out = args.out + b * 48;
    v.x.Store(out);
    v.y.Store(out + 16);
    v.z.Store(out + 32);
  }
}

}  // namespace sinew::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sinew {

HWY_EXPORT(DqsBlocks);

void DqsKernel(const DqsKernelArgs& args, std::size_t begin, std::size_t end) {
  HWY_DYNAMIC_DISPATCH(DqsBlocks)(args, begin, end);
}

}  // namespace sinew
#endif
