#include "core/deform/dqs/dqs_kernel.h"

#include "core/simd/levels.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/deform/dqs/dqs_kernel.cc"
#include <hwy/foreach_target.h>

#include <type_traits>

#include "core/simd/jet-inl.h"
#include "core/simd/pack-inl.h"
#include "core/simd/quaternion-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sinew::HWY_NAMESPACE {

// Dual part of the translation s u: sum += w / 2 * (0, s u) * sign * q.
template <class N>
HWY_INLINE void AddStretch(const N& w, float sign, const float* q, const float* s,
                           const PointOf<N>& u, QuatOf<N>& sum) {
  const N half = Pack::Set(0.5f * sign) * w;
  const auto row = [&](const float* r) HWY_ATTR { return half * RowTimes(r, u); };
  const N x = row(s), y = row(s + 3), z = row(s + 6);
  const Pack qw = Pack::Set(q[0]), qx = Pack::Set(q[1]), qy = Pack::Set(q[2]), qz = Pack::Set(q[3]);
  sum.w = NegMulAdd(z, qz, NegMulAdd(y, qy, NegMulAdd(x, qx, sum.w)));
  sum.x = NegMulAdd(z, qy, MulAdd(y, qz, MulAdd(x, qw, sum.x)));
  sum.y = NegMulAdd(x, qz, MulAdd(z, qx, MulAdd(y, qw, sum.y)));
  sum.z = NegMulAdd(y, qx, MulAdd(x, qy, MulAdd(z, qw, sum.z)));
}

// Rigid motion of a dual quaternion that need not be normalised.
template <class N>
HWY_INLINE PointOf<N> Move(const QuatOf<N>& r, const QuatOf<N>& e, const PointOf<N>& v) {
  const N scale = Pack::Set(2.0f) / Length2(r);
  const N cx = MulAdd(r.w, v.x, e.x) + Difference(r.y, v.z, r.z, v.y);
  const N cy = MulAdd(r.w, v.y, e.y) + Difference(r.z, v.x, r.x, v.z);
  const N cz = MulAdd(r.w, v.z, e.z) + Difference(r.x, v.y, r.y, v.x);
  const N mx = Difference(r.w, e.x, e.w, r.x) + Difference(r.y, cz, r.z, cy);
  const N my = Difference(r.w, e.y, e.w, r.y) + Difference(r.z, cx, r.x, cz);
  const N mz = Difference(r.w, e.z, e.w, r.z) + Difference(r.x, cy, r.y, cx);
  return {MulAdd(scale, mx, v.x), MulAdd(scale, my, v.y), MulAdd(scale, mz, v.z)};
}

// Exact at both ends, so that a lane does not depend on the other lanes of its block.
template <class N>
HWY_INLINE N Mix(const N& linear, const N& dual, const Pack& blend) {
  const N mixed = MulAdd(blend, dual - linear, linear);
  return IfThenElse(Lt(blend, Pack::Set(1.0f)), mixed, dual);
}

template <class N>
struct DualQuatOf {
  QuatOf<N> real, dual;
};

// The numbers of a kernel without and with slopes.
template <class N>
HWY_INLINE N LoadWeight(const DqsKernelArgs& args, std::size_t pair) {
  if constexpr (std::is_same_v<N, Jet>) {
    return LoadJet(args.weights + pair * 16, args.slopes.weights + pair * 32);
  } else {
    return Pack::Load(args.weights + pair * 16);
  }
}

// The weighted sum over block b's bindings; signs may be null.
template <class N>
HWY_INLINE DualQuatOf<N> Sum(const DqsKernelArgs& args, const float* signs, std::size_t b,
                             const PointOf<N>& u) {
  const QuatOf<N> zero = {N::Zero(), N::Zero(), N::Zero(), N::Zero()};
  DualQuatOf<N> sum = {zero, zero};
  const std::size_t pivot = args.pair_entry[args.pair_offset[b]];
  for (std::uint32_t k = args.pair_offset[b]; k < args.pair_offset[b + 1]; ++k) {
    const std::size_t entry = args.pair_entry[k];
    const float* q = args.dual_quats + entry * 8;
    const float* stretch = args.stretch + entry * 12;
    const N w = LoadWeight<N>(args, k);
    const float sign =
        signs != nullptr ? signs[pivot] * signs[entry] : Sign(args.dual_quats + pivot * 8, q);
    Add(w, sign, q, sum.real);
    Add(w, sign, q + 4, sum.dual);
    if (stretch[9] != 0.0f) AddStretch(w, sign, q, stretch, u, sum.dual);
  }
  return sum;
}

template <class N>
HWY_INLINE QuatOf<N> Select(const PackMask& mask, const QuatOf<N>& a, const QuatOf<N>& b) {
  return {IfThenElse(mask, a.w, b.w), IfThenElse(mask, a.x, b.x), IfThenElse(mask, a.y, b.y),
          IfThenElse(mask, a.z, b.z)};
}

template <class N>
HWY_INLINE PointOf<N> Blend(const DqsKernelArgs& args, std::size_t b, const PointOf<N>& u) {
  DualQuatOf<N> sum = Sum(args, args.signs, b, u);
  if (args.signs != nullptr) {
    const PackMask cancelled = Lt(ValueOf(Length2(sum.real)), Pack::Set(kMinBlend));
    if (MaskBits(cancelled) != 0) {
      const DualQuatOf<N> strongest = Sum(args, nullptr, b, u);
      sum = {Select(cancelled, strongest.real, sum.real),
             Select(cancelled, strongest.dual, sum.dual)};
    }
  }
  return Move(sum.real, sum.dual, u);
}

void DqsBlocks(const DqsKernelArgs& args, std::size_t begin, std::size_t end) {
  for (std::size_t b = begin; b < end; ++b) {
    PackPoint v = Blend(args, b, LoadPoint(args.in + b * 48));
    if (args.linear != nullptr) {
      const PackPoint linear = LoadPoint(args.linear + b * 48);
      const Pack blend = args.blend_lanes != nullptr ? Pack::Load(args.blend_lanes + b * 16)
                                                     : Pack::Set(args.blend);
      v = {Mix(linear.x, v.x, blend), Mix(linear.y, v.y, blend), Mix(linear.z, v.z, blend)};
    }
    StorePoint(v, args.out + b * 48);
  }
}

void DqsSlopes(const DqsKernelArgs& args, std::size_t begin, std::size_t end) {
  for (std::size_t b = begin; b < end; ++b) {
    StoreJetPoint(Blend(args, b, LoadJetPoint(args.in + b * 48, args.slopes.in + b * 96)),
                  args.out + b * 48, args.slopes.out + b * 96);
  }
}

void DualQuaternionBlend(const DqsKernelArgs& args, std::size_t begin, std::size_t end) {
  args.slopes.out == nullptr ? DqsBlocks(args, begin, end) : DqsSlopes(args, begin, end);
}

}  // namespace sinew::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
SINEW_KERNEL(void, DqsKernel, (const DqsKernelArgs& args, std::size_t begin, std::size_t end),
             DualQuaternionBlend, (args, begin, end))
#endif
