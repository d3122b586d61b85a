#include "core/deform/dqs/dqs_kernel.h"

#include "core/simd/levels.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/deform/dqs/dqs_kernel.cc"
#include <hwy/foreach_target.h>

#include <algorithm>
#include <cstdint>

#include "core/simd/quaternion-inl.h"
#include "core/simd/slopes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sinew::HWY_NAMESPACE {

struct PackDualQuat {
  PackQuat real, dual;
};

HWY_INLINE PackPoint AxisOf(const PackQuat& q) {
  return {q.x, q.y, q.z};
}

// Dual part of a translation by 2 v after q.
HWY_INLINE void AddTranslation(const PackPoint& v, const float* q, PackQuat& sum) {
  const auto& [x, y, z] = v;
  const Pack qw = Pack::Set(q[0]), qx = Pack::Set(q[1]), qy = Pack::Set(q[2]), qz = Pack::Set(q[3]);
  sum.w = NegMulAdd(z, qz, NegMulAdd(y, qy, NegMulAdd(x, qx, sum.w)));
  sum.x = NegMulAdd(z, qy, MulAdd(y, qz, MulAdd(x, qw, sum.x)));
  sum.y = NegMulAdd(x, qz, MulAdd(z, qx, MulAdd(y, qw, sum.y)));
  sum.z = NegMulAdd(y, qx, MulAdd(x, qy, MulAdd(z, qw, sum.z)));
}

// s u, s row-major with rows of 3.
HWY_INLINE PackPoint Stretched(const float* s, const PackPoint& u) {
  return {RowTimes(s, u), RowTimes(s + 3, u), RowTimes(s + 6, u)};
}

// Exact at both ends, so that a lane does not depend on the other lanes of its block.
HWY_INLINE Pack Mix(const Pack& linear, const Pack& dual, const Pack& blend) {
  const Pack mixed = MulAdd(blend, dual - linear, linear);
  return IfThenElse(Lt(blend, Pack::Set(1.0f)), mixed, dual);
}

// The signed dual quaternions of a block's bindings. They stay while blocks have the same bindings,
// as most neighbours do: broadcasts of numbers that lie in memory cost nothing.
class SignedRows {
 public:
  HWY_INLINE SignedRows(const float* dual_quats, const float* signs)
      : dual_quats_(dual_quats), signs_(signs) {}
  // entries: [count] bindings of a block, the pivot first.
  HWY_INLINE void Use(const std::uint16_t* entries, std::size_t count) {
    const bool same = count == count_ && std::equal(entries, entries + count, entries_);
    entries_ = entries;
    count_ = count;
    for (std::size_t k = 0; !same && k < std::min(count, kMost); ++k) rows_[k] = Make(k);
  }
  // The row of the k-th binding; valid until the next call.
  HWY_INLINE const SignedRow<8>& Row(std::size_t k) {
    if (k >= kMost) rows_[kMost] = Make(k);
    return rows_[std::min(k, kMost)];
  }

 private:
  static constexpr std::size_t kMost = 32;
  HWY_INLINE SignedRow<8> Make(std::size_t k) const {
    const float* const pivot = dual_quats_ + std::size_t{entries_[0]} * 8;
    const float* const quats = dual_quats_ + std::size_t{entries_[k]} * 8;
    const float sign =
        signs_ != nullptr ? signs_[entries_[0]] * signs_[entries_[k]] : Sign(pivot, quats);
    return SignedRow<8>(sign, quats, pivot);
  }
  const float *dual_quats_, *signs_;
  const std::uint16_t* entries_ = nullptr;
  std::size_t count_ = 0;
  SignedRow<8> rows_[kMost + 1];
};

// The weighted sum of dual quaternions over block b's bindings, and its derivatives along the
// tangents. Sums are separate variables, which the compiler keeps in registers.
struct BlendedQuats {
  PackDualQuat value, along[kTangents];
};
template <bool kStretch, bool kSlopes>
HWY_INLINE BlendedQuats Sum(const DqsKernelArgs& args, SignedRows& rows, std::size_t b) {
  const Pack zero = Pack::Zero();
  const PackQuat none = {zero, zero, zero, zero};
  PackQuat real = none, dual = none;
  PackQuat real_along[kTangents] = {none, none}, dual_along[kTangents] = {none, none};
  const std::size_t first = args.pair_offset[b], end = args.pair_offset[b + 1];
  rows.Use(args.pair_entry + first, end - first);
  for (std::size_t pair = first; pair < end; ++pair) {
    const SignedRow<8>& q = rows.Row(pair - first);
    const float* const slopes = kSlopes ? args.slopes.weights + pair * 32 : nullptr;
    const Pack w = Pack::Load(args.weights + pair * 16);
    Add(w, q.value, real);
    Add(w, q.value + 4, dual);
    if constexpr (kSlopes) {
      if (pair != first) {
        SINEW_EACH_TANGENT(k) {
          Add(Pack::Load(slopes + k * 16), q.apart, real_along[k]);
          Add(Pack::Load(slopes + k * 16), q.apart + 4, dual_along[k]);
        }
      }
    }
    const float* stretch = args.stretch + std::size_t{args.pair_entry[pair]} * 12;
    if (!kStretch || stretch[9] == 0.0f) continue;
    const Pack half = Pack::Set(0.5f);
    const PackPoint stretched = Stretched(stretch, LoadPoint(args.in + b * 48));
    AddTranslation(Scaled(half * w, stretched), q.value, dual);
    if constexpr (kSlopes) {
      SINEW_EACH_TANGENT(k) {
        const PackPoint along = Stretched(stretch, LoadSlope(args.slopes.in, b, k));
        const Pack slope = half * Pack::Load(slopes + k * 16);
        AddTranslation(AddScaled(half * w, along, Scaled(slope, stretched)), q.value,
                       dual_along[k]);
      }
    }
  }
  return {{real, dual}, {{real_along[0], dual_along[0]}, {real_along[1], dual_along[1]}}};
}

HWY_INLINE PackQuat Select(const PackMask& mask, const PackQuat& a, const PackQuat& b) {
  return {IfThenElse(mask, a.w, b.w), IfThenElse(mask, a.x, b.x), IfThenElse(mask, a.y, b.y),
          IfThenElse(mask, a.z, b.z)};
}
HWY_INLINE PackDualQuat Select(const PackMask& mask, const PackDualQuat& a, const PackDualQuat& b) {
  return {Select(mask, a.real, b.real), Select(mask, a.dual, b.dual)};
}

HWY_INLINE PackMask Cancelled(const BlendedQuats& sum) {
  return Lt(Length2(sum.value.real), Pack::Set(kMinBlend));
}

// Rigid motion v + scale * moved of v by a dual quaternion r + eps e that need not be normalised,
// and what its derivatives share.
struct Moving {
  const PackQuat &r, &e;
  const PackPoint& v;
  Pack scale;
  PackPoint half, moved;

  HWY_INLINE Moving(const PackDualQuat& q, const PackPoint& point)
      : r(q.real),
        e(q.dual),
        v(point),
        scale(Pack::Set(2.0f) / Length2(r)),
        half(Plus(AddScaled(r.w, v, AxisOf(e)), CrossOf(AxisOf(r), v))),
        moved(Plus(PackPoint{Difference(r.w, e.x, e.w, r.x), Difference(r.w, e.y, e.w, r.y),
                             Difference(r.w, e.z, e.w, r.z)},
                   CrossOf(AxisOf(r), half))) {}
  HWY_INLINE PackPoint Point() const { return AddScaled(scale, moved, v); }
  // How Point() changes when the dual quaternion changes by dq and v by dv.
  HWY_INLINE PackPoint Slope(const PackDualQuat& dq, const PackPoint& dv) const {
    const PackQuat &dr = dq.real, &de = dq.dual;
    const PackPoint dhalf = AddCross(
        AxisOf(r), dv, AddCross(AxisOf(dr), v, AddScaled(r.w, dv, AddScaled(dr.w, v, AxisOf(de)))));
    const auto shift = [&](const Pack& rx, const Pack& ex, const Pack& drx,
                           const Pack& dex) HWY_ATTR {
      return NegMulAdd(e.w, drx, NegMulAdd(de.w, rx, MulAdd(dr.w, ex, r.w * dex)));
    };
    const PackPoint dshift = {shift(r.x, e.x, dr.x, de.x), shift(r.y, e.y, dr.y, de.y),
                              shift(r.z, e.z, dr.z, de.z)};
    const PackPoint sum = AddCross(AxisOf(r), dhalf, AddCross(AxisOf(dr), half, dshift));
    // |r|^2 changes by 2 r . dr.
    const Pack shrink = scale * Dot4(r, dr);
    return {MulAdd(scale, NegMulAdd(shrink, moved.x, sum.x), dv.x),
            MulAdd(scale, NegMulAdd(shrink, moved.y, sum.y), dv.y),
            MulAdd(scale, NegMulAdd(shrink, moved.z, sum.z), dv.z)};
  }
};

template <bool kSlopes>
HWY_INLINE void Finish(const DqsKernelArgs& args, std::size_t b, const BlendedQuats& sum) {
  const PackPoint u = LoadPoint(args.in + b * 48);
  const Moving moving(sum.value, u);
  PackPoint v = moving.Point();
  if constexpr (kSlopes) {
    SINEW_EACH_TANGENT(k) {
      StoreSlope(moving.Slope(sum.along[k], LoadSlope(args.slopes.in, b, k)), args.slopes.out, b,
                 k);
    }
  } else if (args.linear != nullptr) {
    const PackPoint linear = LoadPoint(args.linear + b * 48);
    const Pack blend =
        args.blend_lanes != nullptr ? Pack::Load(args.blend_lanes + b * 16) : Pack::Set(args.blend);
    v = {Mix(linear.x, v.x, blend), Mix(linear.y, v.y, blend), Mix(linear.z, v.z, blend)};
  }
  StorePoint(v, args.out + b * 48);
}

// A block where some lanes cancel: rare, so that it is kept out of the others' way.
template <bool kStretch, bool kSlopes>
HWY_NOINLINE void CancelledBlock(const DqsKernelArgs& args, std::size_t b) {
  SignedRows given_rows(args.dual_quats, args.signs), strongest_rows(args.dual_quats, nullptr);
  const BlendedQuats given = Sum<kStretch, kSlopes>(args, given_rows, b);
  const BlendedQuats strongest = Sum<kStretch, kSlopes>(args, strongest_rows, b);
  const PackMask cancelled = Cancelled(given);
  BlendedQuats sum = {Select(cancelled, strongest.value, given.value), {}};
  SINEW_EACH_TANGENT(k) sum.along[k] = Select(cancelled, strongest.along[k], given.along[k]);
  Finish<kSlopes>(args, b, sum);
}

template <bool kStretch, bool kSlopes>
void DqsBlocks(const DqsKernelArgs& given, std::size_t begin, std::size_t end) {
  const DqsKernelArgs args = given;  // a copy, so that stores cannot alias it
  SignedRows rows(args.dual_quats, args.signs);
  for (std::size_t b = begin; b < end; ++b) {
    const BlendedQuats sum = Sum<kStretch, kSlopes>(args, rows, b);
    if (args.signs != nullptr && MaskBits(Cancelled(sum)) != 0) {
      CancelledBlock<kStretch, kSlopes>(args, b);
    } else {
      Finish<kSlopes>(args, b, sum);
    }
  }
}

template <bool kStretch>
void DqsOf(const DqsKernelArgs& args, std::size_t begin, std::size_t end) {
  args.slopes.out == nullptr ? DqsBlocks<kStretch, false>(args, begin, end)
                             : DqsBlocks<kStretch, true>(args, begin, end);
}

void DualQuaternionBlend(const DqsKernelArgs& args, std::size_t begin, std::size_t end) {
  args.stretches ? DqsOf<true>(args, begin, end) : DqsOf<false>(args, begin, end);
}

}  // namespace sinew::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
SINEW_KERNEL(void, DqsKernel, (const DqsKernelArgs& args, std::size_t begin, std::size_t end),
             DualQuaternionBlend, (args, begin, end))
#endif
