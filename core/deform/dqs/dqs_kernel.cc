#include "core/deform/dqs/dqs_kernel.h"

#include "core/simd/levels.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/deform/dqs/dqs_kernel.cc"
#include <hwy/foreach_target.h>

#include "core/simd/pack-inl.h"
#include "core/simd/quaternion-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sinew::HWY_NAMESPACE {

// Dual part of the translation s u: sum += w / 2 * (0, s u) * sign * q.
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

// Rigid motion of a dual quaternion that need not be normalised.
HWY_INLINE PackPoint Move(const PackQuat& r, const PackQuat& e, const PackPoint& v) {
  const Pack scale = Pack::Set(2.0f) / Length2(r);
  const Pack cx = MulAdd(r.w, v.x, e.x) + Difference(r.y, v.z, r.z, v.y);
  const Pack cy = MulAdd(r.w, v.y, e.y) + Difference(r.z, v.x, r.x, v.z);
  const Pack cz = MulAdd(r.w, v.z, e.z) + Difference(r.x, v.y, r.y, v.x);
  const Pack mx = Difference(r.w, e.x, e.w, r.x) + Difference(r.y, cz, r.z, cy);
  const Pack my = Difference(r.w, e.y, e.w, r.y) + Difference(r.z, cx, r.x, cz);
  const Pack mz = Difference(r.w, e.z, e.w, r.z) + Difference(r.x, cy, r.y, cx);
  return {MulAdd(scale, mx, v.x), MulAdd(scale, my, v.y), MulAdd(scale, mz, v.z)};
}

// Exact at both ends, so that a lane does not depend on the other lanes of its block.
HWY_INLINE Pack Mix(const Pack& linear, const Pack& dual, const Pack& blend) {
  const Pack mixed = MulAdd(blend, dual - linear, linear);
  return IfThenElse(Lt(blend, Pack::Set(1.0f)), mixed, dual);
}

struct PackDualQuat {
  PackQuat real, dual;
};

// The weighted sum over block b's bindings; signs may be null.
HWY_INLINE PackDualQuat Sum(const DqsKernelArgs& args, const float* signs, std::size_t b,
                            const PackPoint& u) {
  const PackQuat zero = {Pack::Zero(), Pack::Zero(), Pack::Zero(), Pack::Zero()};
  PackDualQuat sum = {zero, zero};
  const std::size_t pivot = args.pair_entry[args.pair_offset[b]];
  for (std::uint32_t k = args.pair_offset[b]; k < args.pair_offset[b + 1]; ++k) {
    const std::size_t entry = args.pair_entry[k];
    const float* q = args.dual_quats + entry * 8;
    const float* stretch = args.stretch + entry * 12;
    const Pack w = Pack::Load(args.weights + std::size_t{k} * 16);
    const float sign =
        signs != nullptr ? signs[pivot] * signs[entry] : Sign(args.dual_quats + pivot * 8, q);
    Add(w, sign, q, sum.real);
    Add(w, sign, q + 4, sum.dual);
    if (stretch[9] != 0.0f) AddStretch(w, sign, q, stretch, u, sum.dual);
  }
  return sum;
}

HWY_INLINE PackQuat Select(const PackMask& mask, const PackQuat& a, const PackQuat& b) {
  return {IfThenElse(mask, a.w, b.w), IfThenElse(mask, a.x, b.x), IfThenElse(mask, a.y, b.y),
          IfThenElse(mask, a.z, b.z)};
}

void DqsBlocks(const DqsKernelArgs& args, std::size_t begin, std::size_t end) {
  for (std::size_t b = begin; b < end; ++b) {
    const PackPoint u = LoadPoint(args.in + b * 48);
    PackDualQuat sum = Sum(args, args.signs, b, u);
    if (args.signs != nullptr) {
      const PackMask cancelled = Lt(Length2(sum.real), Pack::Set(kMinBlend));
      if (MaskBits(cancelled) != 0) {
        const PackDualQuat strongest = Sum(args, nullptr, b, u);
        sum = {Select(cancelled, strongest.real, sum.real),
               Select(cancelled, strongest.dual, sum.dual)};
      }
    }
    PackPoint v = Move(sum.real, sum.dual, u);
    if (args.linear != nullptr) {
      const PackPoint linear = LoadPoint(args.linear + b * 48);
      const Pack blend = args.blend_lanes != nullptr ? Pack::Load(args.blend_lanes + b * 16)
                                                     : Pack::Set(args.blend);
      v = {Mix(linear.x, v.x, blend), Mix(linear.y, v.y, blend), Mix(linear.z, v.z, blend)};
    }
    StorePoint(v, args.out + b * 48);
  }
}

}  // namespace sinew::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
SINEW_KERNEL(void, DqsKernel, (const DqsKernelArgs& args, std::size_t begin, std::size_t end),
             DqsBlocks, (args, begin, end))
#endif
