#include "core/deform/ddm/ddm_kernel.h"

#include "core/simd/levels.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/deform/ddm/ddm_kernel.cc"
#include <hwy/foreach_target.h>

#include "core/simd/pack-inl.h"
#include "core/simd/rotation-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sinew::HWY_NAMESPACE {

constexpr float kGuardTrace = 2.0f;  // of a rotation by 60 degrees

HWY_INLINE void Load3(const float* block, Pack* p) {
  for (int i = 0; i < 3; ++i) p[i] = Pack::Load(block + 16 * i);
}

// Row r of a row-major matrix times v.
HWY_INLINE Pack Row(const float* row, const Pack* v) {
  return MulAdd(Pack::Set(row[0]), v[0], MulAdd(Pack::Set(row[1]), v[1], Pack::Set(row[2]) * v[2]));
}

HWY_INLINE void Move(const float* affine, const Pack* u, Pack* y) {
  for (int r = 0; r < 3; ++r) {
    const float* m = affine + 4 * r;
    y[r] = MulAdd(Pack::Set(m[0]), u[0],
                  MulAdd(Pack::Set(m[1]), u[1], MulAdd(Pack::Set(m[2]), u[2], Pack::Set(m[3]))));
  }
}

// What is summed over the bindings of a block.
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

template <bool kGuard, bool kAlpha>
HWY_INLINE void AddJoint(const DdmJoint& joint, const float* row, const Pack* rest,
                         const Pack* pivot_point, const float* pivot_quaternion, const Pack* pc,
                         Sums& sums) {
  Pack e[3];
  Move(joint.affine, rest, e);
  for (int r = 0; r < 3; ++r) e[r] = e[r] - pivot_point[r];
  const auto field = [row](int f) HWY_ATTR { return Pack::Load(row + 16 * f); };
  const Pack psi[3] = {field(kPsi0), field(kPsi1), field(kPsi2)};
  const Pack omega = field(kOmega);
  for (int r = 0; r < 3; ++r) {
    const float* m = joint.linear + 3 * r;
    sums.q[r] = MulAdd(omega, e[r], sums.q[r] + Row(m, psi));
  }
  const Pack p[9] = {field(kP00), field(kP01), field(kP02), field(kP01), field(kP11),
                     field(kP12), field(kP02), field(kP12), field(kP22)};
  for (int r = 0; r < 3; ++r) {
    const Pack m0 = Pack::Set(joint.linear[3 * r]), m1 = Pack::Set(joint.linear[3 * r + 1]),
               m2 = Pack::Set(joint.linear[3 * r + 2]);
    for (int c = 0; c < 3; ++c) {
      Pack& h = sums.h[3 * r + c];
      h = MulAdd(e[r], psi[c], MulAdd(m0, p[c], MulAdd(m1, p[3 + c], MulAdd(m2, p[6 + c], h))));
    }
  }
  if constexpr (kGuard) {
    const float sign = SignBeside(joint.quaternion, pivot_quaternion);
    for (int i = 0; i < 4; ++i) {
      sums.blend[i] = MulAdd(omega, Pack::Set(sign * joint.quaternion[i]), sums.blend[i]);
    }
  }
  if constexpr (kAlpha) {
    const Pack w = field(kTranslation);
    for (int r = 0; r < 3; ++r) {
      sums.translation[r] = MulAdd(w, Row(joint.linear + 3 * r, pc) + e[r], sums.translation[r]);
    }
  }
}

// |q|^2 trace(R(q)^T r) for a quaternion q of any length: how far r is from it, and |q|^2.
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

// One block; returns the lanes left.
template <bool kGuard, bool kAlpha>
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
    AddJoint<kGuard, kAlpha>(args.joints[args.pair_entry[k]], args.table + k * args.fields * 16,
                             rest, pivot_point, pivot.quaternion, pc, sums);
  }
  for (int r = 0; r < 3; ++r) {
    for (int c = 0; c < 3; ++c) sums.h[3 * r + c] = NegMulAdd(sums.q[r], pc[c], sums.h[3 * r + c]);
  }

  Pack rotation[9];
  const Pack den = NearestRotation16(sums.h, rotation);
  const PackMask sharp = Gt(den, Pack::Set(kLeastDen));
  PackMask near = sharp;
  if constexpr (kGuard) {
    Pack norm;
    const Pack trace = TraceBeside(sums.blend, rotation, norm);
    near = Gt(trace, Pack::Set(kGuardTrace) * norm);
  }

  if constexpr (kAlpha) {
    const Pack alpha = Pack::Set(args.alpha), rest_of = Pack::Set(1.0f - args.alpha);
    for (int r = 0; r < 3; ++r) {
      sums.q[r] = MulAdd(alpha, sums.translation[r], rest_of * sums.q[r]);
    }
  }
  Pack in[3], arm[3];  // what R turns: (in - rest) - pc
  Load3(args.in == nullptr ? args.rest + 48 * b : args.in + 48 * b, in);
  for (int i = 0; i < 3; ++i) arm[i] = (in[i] - rest[i]) - pc[i];
  float* out = args.out + 48 * b;
  for (int r = 0; r < 3; ++r) {
    const Pack moved = (pivot_point[r] + sums.q[r]) + Dot3(rotation + 3 * r, arm, 1);
    IfThenElse(sharp, IfThenElse(near, moved, in[r]), in[r]).Store(out + 16 * r);
  }
  return ~(MaskBits(sharp) & MaskBits(near)) & 0xffffu;
}

template <bool kGuard, bool kAlpha>
void DdmRange(const DdmKernelArgs& args, std::size_t begin, std::size_t end, std::uint16_t* left) {
  for (std::size_t b = begin; b < end; ++b) {
    left[b - begin] = static_cast<std::uint16_t>(DdmBlock<kGuard, kAlpha>(args, b));
  }
}

void DdmBlocks(const DdmKernelArgs& args, std::size_t begin, std::size_t end, std::uint16_t* left) {
  if (args.fields > kDdmFields) {
    args.guard ? DdmRange<true, true>(args, begin, end, left)
               : DdmRange<false, true>(args, begin, end, left);
  } else {
    args.guard ? DdmRange<true, false>(args, begin, end, left)
               : DdmRange<false, false>(args, begin, end, left);
  }
}

}  // namespace sinew::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sinew {

HWY_EXPORT(DdmBlocks);

void DdmKernel(const DdmKernelArgs& args, std::size_t begin, std::size_t end, std::uint16_t* left) {
  HWY_DYNAMIC_DISPATCH(DdmBlocks)(args, begin, end, left);
}

}  // namespace sinew
#endif
