#include "core/deform/ddm/ddm_kernel.h"

#include "core/simd/levels.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/deform/ddm/ddm_kernel.cc"
#include <hwy/foreach_target.h>

#include "core/deform/ddm/ddm-inl.h"
#include "core/simd/pack-inl.h"
#include "core/simd/quaternion-inl.h"
#include "core/simd/rotation-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sinew::HWY_NAMESPACE {

constexpr float kGuardTrace = 2.0f;  // of a rotation by 60 degrees

struct Sums {
  Pack h[9];            // sum (linear P + e psi^T), row-major
  Pack q[3];            // sum (linear psi + omega e)
  Pack blend[4];        // sum omega s quaternion, s = sign of its product with the pivot's
  Pack translation[3];  // sum w' (linear pc + e)
};

HWY_INLINE float SignBeside(const float* q, const float* pivot) {
  const float dot = ((q[0] * pivot[0] + q[1] * pivot[1]) + q[2] * pivot[2]) + q[3] * pivot[3];
  return dot < 0 ? -1.0f : 1.0f;
}

template <bool kBlend, bool kAlpha>
HWY_INLINE void AddJoint(const DdmJoint& joint, const TableRow& row, const Pack* rest,
                         const Pack* pivot_point, const float* pivot_quaternion, const Pack* pc,
                         Sums& sums) {
  Pack e[3];
  Move(joint.affine, rest, e);
  for (int r = 0; r < 3; ++r) e[r] = e[r] - pivot_point[r];
  const Pack psi[3] = {row[kPsi0], row[kPsi1], row[kPsi2]};
  const Pack omega = row[kOmega];
  for (int r = 0; r < 3; ++r) {
    const float* m = joint.linear + 3 * r;
    sums.q[r] = MulAdd(omega, e[r], sums.q[r] + Row(m, psi));
  }
  const Pack p00 = row[kP00], p01 = row[kP01], p02 = row[kP02], p11 = row[kP11], p12 = row[kP12],
             p22 = row[kP22];
  const Pack p[9] = {p00, p01, p02, p01, p11, p12, p02, p12, p22};
  for (int r = 0; r < 3; ++r) {
    const Pack m0 = Pack::Set(joint.linear[3 * r]), m1 = Pack::Set(joint.linear[3 * r + 1]),
               m2 = Pack::Set(joint.linear[3 * r + 2]);
    for (int c = 0; c < 3; ++c) {
      Pack& h = sums.h[3 * r + c];
      h = MulAdd(e[r], psi[c], MulAdd(m0, p[c], MulAdd(m1, p[3 + c], MulAdd(m2, p[6 + c], h))));
    }
  }
  if constexpr (kBlend) {
    const float sign = SignBeside(joint.quaternion, pivot_quaternion);
    for (int i = 0; i < 4; ++i) {
      sums.blend[i] = MulAdd(omega, Pack::Set(sign * joint.quaternion[i]), sums.blend[i]);
    }
  }
  if constexpr (kAlpha) {
    const Pack w = row[kTranslation];
    for (int r = 0; r < 3; ++r) {
      sums.translation[r] = MulAdd(w, Row(joint.linear + 3 * r, pc) + e[r], sums.translation[r]);
    }
  }
}

// |q|^2 trace(R(q)^T r) for a quaternion q of any length, which measures the angle between R(q)
// and r; and |q|^2.
HWY_INLINE Pack TraceBeside(const Pack* q, const Pack* r, Pack& squared_norm) {
  const Pack ww = q[0] * q[0], xx = q[1] * q[1], yy = q[2] * q[2], zz = q[3] * q[3];
  squared_norm = (ww + xx) + (yy + zz);
  Pack sum = ww * (r[0] + r[4] + r[8]);
  sum = MulAdd(xx, r[0] - r[4] - r[8], sum);
  sum = MulAdd(yy, r[4] - r[0] - r[8], sum);
  sum = MulAdd(zz, r[8] - r[0] - r[4], sum);
  Pack mixed = q[0] * q[1] * (r[7] - r[5]);
  mixed = MulAdd(q[0] * q[2], r[2] - r[6], mixed);
  mixed = MulAdd(q[0] * q[3], r[3] - r[1], mixed);
  mixed = MulAdd(q[1] * q[2], r[1] + r[3], mixed);
  mixed = MulAdd(q[1] * q[3], r[2] + r[6], mixed);
  mixed = MulAdd(q[2] * q[3], r[5] + r[7], mixed);
  return MulAdd(Pack::Set(2.0f), mixed, sum);
}

// Variant 1: r = cof(h) fit.
HWY_INLINE void FittedAffine(const Pack* h, const float* fit, Pack* r) {
  const Pack inverse_trace = Pack::Load(fit + 96);
  Pack scaled[9], cofactor[9], second[6];
  for (int i = 0; i < 9; ++i) scaled[i] = h[i] * inverse_trace;
  Cofactor(scaled, cofactor);
  for (int i = 0; i < 6; ++i) second[i] = Pack::Load(fit + 16 * i);
  TimesSymmetric(cofactor, second, r);
}

enum class Fit { kNearestRotation, kAffine };

// One block; returns the lanes left to DdmLane. kBlend: computes the blended quaternion, for the
// guard or for flat lanes.
template <Fit kFit, bool kBlend, bool kAlpha>
HWY_INLINE std::uint32_t DdmBlock(const DdmKernelArgs& args, std::size_t b) {
  Pack rest[3], pc[3], pivot_point[3];
  Load3(args.rest + 48 * b, rest);
  Load3(args.centroid + 48 * b, pc);
  const std::uint32_t first = args.pair_offset[b], last = args.pair_offset[b + 1];
  const DdmJoint& pivot = args.joints[args.pair_entry[first]];
  Move(pivot.affine, rest, pivot_point);

  Sums sums;
  for (Pack& v : sums.h) v = Pack::Zero();
  for (Pack& v : sums.q) v = Pack::Zero();
  for (Pack& v : sums.blend) v = Pack::Zero();
  for (Pack& v : sums.translation) v = Pack::Zero();
  for (std::uint32_t k = first; k < last; ++k) {
    AddJoint<kBlend, kAlpha>(args.joints[args.pair_entry[k]], TableRow(args.table, k), rest,
                             pivot_point, pivot.quaternion, pc, sums);
  }
  for (int r = 0; r < 3; ++r) {
    for (int c = 0; c < 3; ++c) sums.h[3 * r + c] = NegMulAdd(sums.q[r], pc[c], sums.h[3 * r + c]);
  }

  const Pack sign = Pack::Set(pivot.sign);
  Pack rotation[9];
  PackMask sharp, near;
  if constexpr (kFit == Fit::kNearestRotation) {
    for (Pack& v : sums.h) v = sign * v;
    sharp = Gt(NearestRotation16(sums.h, rotation), Pack::Set(kMinDen));
    near = sharp;
    if constexpr (kBlend) {
      Pack norm;
      const Pack trace = TraceBeside(sums.blend, rotation, norm);
      near = Gt(trace, Pack::Set(kGuardTrace) * norm);
    }
  } else {
    const float* fit = args.fit + kDdmFitFields * 16 * b;
    FittedAffine(sums.h, fit, rotation);
    sharp = Le(Pack::Zero(), Pack::Load(fit + 96));
    near = sharp;
  }

  if constexpr (kAlpha) {
    const Pack alpha = Pack::Set(args.alpha), rest_of = Pack::Set(1.0f - args.alpha);
    for (int r = 0; r < 3; ++r) {
      sums.q[r] = MulAdd(alpha, sums.translation[r], rest_of * sums.q[r]);
    }
  }
  const float* const in = (args.in == nullptr ? args.rest : args.in) + 48 * b;
  Pack arm[3], turned[3];
  LoadArm(in, rest, pc, arm);
  for (Pack& v : arm) v = sign * v;
  for (int r = 0; r < 3; ++r) turned[r] = Dot3(rotation + 3 * r, arm, 1);
  if constexpr (kFit == Fit::kAffine && kBlend) {
    const PackMask formed = Gt(Pack::Load(args.fit + kDdmFitFields * 16 * b + 96), Pack::Zero());
    const PackQuat blend = {sums.blend[0], sums.blend[1], sums.blend[2], sums.blend[3]};
    const PackPoint blended = Rotate(blend, PackPoint{arm[0], arm[1], arm[2]});
    turned[0] = IfThenElse(formed, turned[0], blended.x);
    turned[1] = IfThenElse(formed, turned[1], blended.y);
    turned[2] = IfThenElse(formed, turned[2], blended.z);
  }
  float* out = args.out + 48 * b;
  for (int r = 0; r < 3; ++r) {
    const Pack still = Pack::Load(in + 16 * r);
    const Pack moved = (pivot_point[r] + sums.q[r]) + turned[r];
    IfThenElse(sharp, IfThenElse(near, moved, still), still).Store(out + 16 * r);
  }
  return ~(MaskBits(sharp) & MaskBits(near)) & 0xffffu;
}

// A block of variant 1 needs the blended quaternion only if a lane is flat.
template <bool kAlpha>
HWY_INLINE std::uint32_t AffineBlock(const DdmKernelArgs& args, std::size_t b) {
  const Pack inverse_trace = Pack::Load(args.fit + kDdmFitFields * 16 * b + 96);
  const bool flat = MaskBits(Le(Abs(inverse_trace), Pack::Zero())) != 0;
  return flat ? DdmBlock<Fit::kAffine, true, kAlpha>(args, b)
              : DdmBlock<Fit::kAffine, false, kAlpha>(args, b);
}

template <bool kAlpha>
void DdmRange(const DdmKernelArgs& args, std::size_t begin, std::size_t end, std::uint16_t* left) {
  const auto each = [&](auto&& block) HWY_ATTR {
    for (std::size_t b = begin; b < end; ++b)
      left[b - begin] = static_cast<std::uint16_t>(block(b));
  };
  if (args.fit != nullptr) {
    each([&](std::size_t b) HWY_ATTR { return AffineBlock<kAlpha>(args, b); });
  } else if (args.guard) {
    each([&](std::size_t b)
             HWY_ATTR { return DdmBlock<Fit::kNearestRotation, true, kAlpha>(args, b); });
  } else {
    each([&](std::size_t b)
             HWY_ATTR { return DdmBlock<Fit::kNearestRotation, false, kAlpha>(args, b); });
  }
}

void DdmBlocks(const DdmKernelArgs& args, std::size_t begin, std::size_t end, std::uint16_t* left) {
  const bool alpha = args.table.fields > kDdmFields;
  alpha ? DdmRange<true>(args, begin, end, left) : DdmRange<false>(args, begin, end, left);
}

}  // namespace sinew::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
SINEW_KERNEL(void, DdmKernel,
             (const DdmKernelArgs& args, std::size_t begin, std::size_t end, std::uint16_t* left),
             DdmBlocks, (args, begin, end, left))
#endif
